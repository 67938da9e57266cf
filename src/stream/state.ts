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
//         │             ┌──▼─────┐ close     │
//         └─────────────► closed ◄───────────┘
//                       └────────┘

/** A phase of a stream's life. `idle`: its open has not left, or has not arrived whole. */
export type StreamPhase = 'idle' | 'open' | 'halfClosedLocal' | 'halfClosedRemote' | 'closed';

/**
 * An event in a stream's life. A frame that carries `end` is two inputs.
 *
 * `leave`: the pipeline encodes this side's open. `seal`: this side may send nothing more, because its end is queued or its connection
 * closes. `close`: the stream ends without a frame, as when its socket is lost.
 */
export type StreamInput =
  'leave' | 'sendOpen' | 'recvOpen' | 'recvData' | 'seal' | 'sendEnd' | 'recvEnd' | 'sendReset' | 'recvReset' | 'close';

/** One state. A phase may have several states. */
interface Row<Name extends string> {
  readonly phase: StreamPhase;
  /** This side opened the stream, and no frame of it has left. */
  readonly unsent?: true;
  /** The remote's first frame, which carries headers, has not arrived yet. */
  readonly headersDue?: true;
  readonly leads: Readonly<Partial<Record<StreamInput, Name>>>;
}

/** Inputs that end a stream in every state. */
const ENDS = { sendReset: 'closed', recvReset: 'closed', close: 'closed' } as const;
/** Inputs that end a stream before any frame has left. */
const WITHDRAWS = { sendReset: 'withdrawn', recvReset: 'withdrawn', close: 'withdrawn' } as const;

/**
 * The next state for each state and input. A missing cell means that the input breaks the protocol. A state without a cell for `seal` is
 * sealed.
 */
export const TABLE = {
  queued: { phase: 'idle', unsent: true, leads: { leave: 'leaving', seal: 'queuedSealed', ...WITHDRAWS } },
  queuedSealed: { phase: 'idle', unsent: true, leads: { leave: 'leavingSealed', ...WITHDRAWS } },
  leaving: { phase: 'idle', leads: { sendOpen: 'unanswered', seal: 'leavingSealed', ...ENDS } },
  leavingSealed: { phase: 'idle', leads: { sendOpen: 'unansweredSealed', ...ENDS } },
  arriving: { phase: 'idle', leads: { recvOpen: 'open', seal: 'arrivingSealed', ...ENDS } },
  arrivingSealed: { phase: 'idle', leads: { recvOpen: 'openSealed', ...ENDS } },
  unanswered: {
    phase: 'open',
    headersDue: true,
    leads: { recvData: 'open', seal: 'unansweredSealed', recvEnd: 'halfClosedRemote', ...ENDS },
  },
  unansweredSealed: {
    phase: 'open',
    headersDue: true,
    leads: { recvData: 'openSealed', sendEnd: 'halfClosedUnanswered', recvEnd: 'halfClosedRemoteSealed', ...ENDS },
  },
  open: { phase: 'open', leads: { recvData: 'open', seal: 'openSealed', recvEnd: 'halfClosedRemote', ...ENDS } },
  openSealed: {
    phase: 'open',
    leads: { recvData: 'openSealed', sendEnd: 'halfClosedLocal', recvEnd: 'halfClosedRemoteSealed', ...ENDS },
  },
  halfClosedUnanswered: { phase: 'halfClosedLocal', headersDue: true, leads: { recvData: 'halfClosedLocal', recvEnd: 'closed', ...ENDS } },
  halfClosedLocal: { phase: 'halfClosedLocal', leads: { recvData: 'halfClosedLocal', recvEnd: 'closed', ...ENDS } },
  halfClosedRemote: { phase: 'halfClosedRemote', leads: { seal: 'halfClosedRemoteSealed', ...ENDS } },
  halfClosedRemoteSealed: { phase: 'halfClosedRemote', leads: { sendEnd: 'closed', ...ENDS } },
  withdrawn: { phase: 'closed', unsent: true, leads: {} },
  closed: { phase: 'closed', leads: {} },
} as const satisfies Record<string, Row<string>>;

/** The name of a state. In a `Sealed` state this side may send nothing more; otherwise it equals its unsealed twin. */
export type StateName = keyof typeof TABLE;

/** The state of a stream. */
export type StreamRow = Row<StateName>;
