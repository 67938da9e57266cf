import { logger } from '../logger.js';
import { ConnectionFault } from '../wire/fault.js';
import type { CompleteFrame } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import { LiveStream } from './live-stream.js';
import type { Session } from './session.js';

/**
 * Decides frame by frame, before anything is assembled, what the remote may do with stream ids: which frames reach their
 * stream, which are late or junk and dropped, and which end the connection (PROTOCOL.md, "Frames that do not fit").
 */
export class Admission {
  /** Highest id that the remote has opened; anything at or below it that is not live is closed by construction. */
  #highest = 0;

  constructor(private readonly session: Session) {}

  /** The frame for its stream (0 is the connection), or `null` when it is dropped. */
  admit(frame: CompleteFrame): CompleteFrame | null {
    if (frame.more) this.session.awaitFragments();
    switch (frame.type) {
      case 'open':
        return this.#open(frame);
      case 'data':
      case 'reset':
        return this.#ofStream(frame);
      case 'ping':
      case 'pong':
      case 'goaway':
        return frame.stream === null ? frame : { ...frame, stream: null };
      default:
        logger.debug(`rxmux: ignored a frame of an unknown type`);
        return null;
    }
  }

  #open(frame: CompleteFrame): CompleteFrame | null {
    const { session } = this;
    const id = frame.stream ?? 0;
    if (id === 0) throw new ConnectionFault(`expected a stream id on an open, got ${String(frame.stream)}`);
    if (session.streams.owns(id))
      throw new ConnectionFault(`expected an open of ${session.isDialer ? 'an even' : 'an odd'} id, got ${id}, which belongs to this side`);
    if (id <= this.#highest) return this.#lateOpen(frame, id);
    this.#highest = id;
    const refusal = session.refusal(id);
    if (refusal === null) {
      session.streams.add(new LiveStream(session, id, false));
      return frame;
    }
    session.answer(id, ResetCode.REFUSED, refusal);
    session.flood.junk(`an open of stream ${id}: ${refusal}`);
    return null;
  }

  #lateOpen(frame: CompleteFrame, id: number): CompleteFrame | null {
    if (frame.fragment === null) throw new ConnectionFault(`expected an open above stream ${this.#highest}, got ${id}`);
    const live = this.session.streams.get(id);
    if (live === undefined) return null;
    if (live.phase === 'idle') return frame;
    live.violated(ResetCode.PROTOCOL_ERROR, `expected no fragment of an open that is complete`);
    return null;
  }

  #ofStream(frame: CompleteFrame): CompleteFrame | null {
    const { session } = this;
    const id = frame.stream ?? 0;
    const live = session.streams.get(id);
    if (live !== undefined && !(live.local && live.phase === 'idle')) return frame;
    if (id !== 0 && (session.streams.owns(id) ? session.streams.hasOpened(id) : id <= this.#highest)) return null;
    session.flood.junk(id === 0 ? `${frame.type} without a stream id` : `${frame.type} of stream ${id}, which was never opened`);
    if (frame.type === 'data' && id !== 0) {
      session.answer(id, ResetCode.PROTOCOL_ERROR, 'the stream was never opened');
      session.flood.provokedReset(ResetCode.PROTOCOL_ERROR);
    }
    return null;
  }
}
