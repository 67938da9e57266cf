import { ENDED } from '../base/close-cause.js';
import type { CloseCause } from '../base/close-cause.js';

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

/**
 * What can happen to a stream. `end` is an input of its own: a frame that carries it is two inputs. No code asks for `sendData`: what would
 * break the protocol is refused where it is sent.
 */
export type StreamInput = 'sendOpen' | 'recvOpen' | 'sendData' | 'recvData' | 'sendEnd' | 'recvEnd' | 'sendReset' | 'recvReset' | 'lose';

/** What ends a stream from every phase. */
const ENDS = { sendReset: 'closed', recvReset: 'closed', lose: 'closed' } as const;

/** Where an input leads from a phase. A missing cell is the violation: the input breaks the protocol. */
export const TRANSITIONS: Readonly<Record<StreamPhase, Readonly<Partial<Record<StreamInput, StreamPhase>>>>> = {
  idle: { sendOpen: 'open', recvOpen: 'open', ...ENDS },
  open: { sendData: 'open', recvData: 'open', sendEnd: 'halfClosedLocal', recvEnd: 'halfClosedRemote', ...ENDS },
  halfClosedLocal: { recvData: 'halfClosedLocal', recvEnd: 'closed', ...ENDS },
  halfClosedRemote: { sendData: 'halfClosedRemote', sendEnd: 'closed', ...ENDS },
  closed: {},
};

/** Where one stream is, and once it is closed what ended it. */
export class StreamState {
  #phase: StreamPhase = 'idle';
  #cause: CloseCause = ENDED;

  get phase(): StreamPhase {
    return this.#phase;
  }

  get closed(): boolean {
    return this.#phase === 'closed';
  }

  /** What ended the stream; means nothing before it is closed. */
  get cause(): CloseCause {
    return this.#cause;
  }

  /** Takes an input; `false`, and nothing changes, where it breaks the protocol. */
  advance(input: StreamInput): boolean {
    const next = TRANSITIONS[this.#phase][input];
    if (next !== undefined) this.#phase = next;
    return next !== undefined;
  }

  /** Whether an input keeps to the protocol. */
  accepts(input: StreamInput): boolean {
    return TRANSITIONS[this.#phase][input] !== undefined;
  }

  /** Whether an input would close the stream. */
  closesWith(input: StreamInput): boolean {
    return TRANSITIONS[this.#phase][input] === 'closed';
  }

  /** Closes the stream; on a closed one only the cause changes. */
  close(input: StreamInput, cause: CloseCause): void {
    this.advance(input);
    this.#cause = cause;
  }
}
