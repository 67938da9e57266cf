//                       ┌──────┐
//                       │ idle │
//                       └──┬───┘
//                sendOpen, │ recvOpen
//                       ┌──▼───┐
//             sendEnd   │ open │   recvEnd
//         ┌─────────────┤      ├─────────────┐
//         │             └──┬───┘             │
//  ┌──────▼──────────┐     │      ┌──────────▼───────┐
//  │ halfClosedLocal │     │      │ halfClosedRemote │
//  └──────┬──────────┘     │      └──────────┬───────┘
//         │ recvEnd        │ a reset,        │ sendEnd
//         │             ┌──▼─────┐ lose      │
//         └─────────────► closed ◄───────────┘
//                       └────────┘

/** Where a stream is in its life. `idle`: its open has not left, or has not arrived whole. */
export type StreamPhase = 'idle' | 'open' | 'halfClosedLocal' | 'halfClosedRemote' | 'closed';

/** What can happen to a stream. `end` is an input of its own: a frame that carries it is two inputs. */
export type StreamInput = 'sendOpen' | 'recvOpen' | 'sendData' | 'recvData' | 'sendEnd' | 'recvEnd' | 'sendReset' | 'recvReset' | 'lose';

const TRANSITIONS: Readonly<Record<StreamPhase, Readonly<Partial<Record<StreamInput, StreamPhase>>>>> = {
  idle: { sendOpen: 'open', recvOpen: 'open', sendReset: 'closed', recvReset: 'closed', lose: 'closed' },
  open: {
    sendData: 'open',
    recvData: 'open',
    sendEnd: 'halfClosedLocal',
    recvEnd: 'halfClosedRemote',
    sendReset: 'closed',
    recvReset: 'closed',
    lose: 'closed',
  },
  halfClosedLocal: { recvData: 'halfClosedLocal', recvEnd: 'closed', sendReset: 'closed', recvReset: 'closed', lose: 'closed' },
  halfClosedRemote: { sendData: 'halfClosedRemote', sendEnd: 'closed', sendReset: 'closed', recvReset: 'closed', lose: 'closed' },
  closed: {},
};

/** The phase after `input`, or `null` where the input breaks the protocol: a missing cell is the violation. */
export function advance(phase: StreamPhase, input: StreamInput): StreamPhase | null {
  return TRANSITIONS[phase][input] ?? null;
}
