import type { Sink } from '../operators/demultiplex.js';
import { steadyNow } from '../transport/steady-clock.js';
import type { CloseReason } from '../wire/close-reason.js';
import { ConnectionFault } from '../wire/fault.js';
import type { ConnectionFrame, FrameOf } from '../wire/frame-types.js';
import type { CompleteFrame } from '../wire/frame.js';
import { LazyMap } from '../wire/lazy.js';
import { encodedLength } from '../wire/length.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import { ResetCode } from '../wire/reset-code.js';
import { GoAway } from './base/goaway.js';
import { PacedPings } from './paced-pings.js';
import type { Session } from './session.js';

/** A pong's envelope around its nonce, in bytes, with some to spare. */
const PONG_ENVELOPE_BYTES = 64;

/** Each of them looks at every stream, and an honest side sends two or three. */
const MAX_GOAWAYS = 100;

/** A ping under way. */
interface Ping {
  readonly sentAt: number;
  readonly answered: (ms: number) => void;
  readonly lost: (reason: CloseReason) => void;
  readonly left: () => void;
}

/** What concerns the connection as a whole: ping, pong and goaway. Its frames are those of stream 0. */
export class ControlStream implements Sink<CompleteFrame> {
  readonly goaway = new GoAway();
  readonly #pings = new LazyMap<string, Ping>();
  #pinged = 0;
  /** Waits no longer for the keepalive's last ping; one of them is under way at most. */
  #giveUpProbe = ignore;
  #lost: CloseReason | null = null;
  #goaways = 0;
  /** Made for the first ping that an application asks for. */
  #paced: PacedPings | null = null;

  constructor(private readonly session: Session) {}

  next(frame: ConnectionFrame): void {
    if (frame.type === 'ping') this.#answer(frame);
    else if (frame.type === 'pong') this.#answered(frame);
    else this.#goneAway(frame);
  }

  /**
   * Sends a ping. Calls `left` once the socket has it, then `answered` with the round trip in ms, or `lost` with why there will be none.
   *
   * @returns waits for it no longer: a pong that comes all the same is junk
   */
  ping(answered: (ms: number) => void, lost: (reason: CloseReason) => void = ignore, left: () => void = ignore): () => void {
    if (this.#lost !== null) {
      lost(this.#lost);
      return ignore;
    }
    // Tells pings of one connection apart and is no secret: a remote that guesses it fakes nothing but its own answer.
    const nonce = (++this.#pinged).toString(36);
    this.#pings.set(nonce, { sentAt: steadyNow(), answered, lost, left });
    this.session.scheduler.add(new OutgoingFrame({ type: 'ping', nonce }, null));
    return () => {
      this.#pings.delete(nonce);
    };
  }

  /** {@link ping} for an application, which may ask as often as it likes. */
  pacedPing(answered: (ms: number) => void, lost: (reason: CloseReason) => void): void {
    this.#paced ??= new PacedPings((tell, tellLoss) => this.ping(tell, tellLoss));
    this.#paced.ask(answered, lost);
  }

  /** A ping was given to the socket. */
  pinged(nonce: string): void {
    this.#pings.get(nonce)?.left();
  }

  /** Sends a ping of the keepalive, for which any sign of life is an answer. */
  probe(): void {
    this.#giveUpProbe();
    this.#giveUpProbe = this.ping(ignore);
  }

  /** The socket is gone. */
  connectionLost(reason: CloseReason): void {
    this.#lost = reason;
    for (const ping of this.#pings.values()) ping.lost(reason);
    this.#pings.clear();
    this.#paced?.connectionLost();
  }

  /** The goaway that announces this side's end. */
  announceGoaway(code: ResetCode, reason: string): OutgoingFrame {
    return this.session.frames.goaway(code, this.goaway.announce(), reason);
  }

  #answer({ nonce }: FrameOf<'ping'>): void {
    const { session } = this;
    session.flood.countPing();
    if (nonce !== null && this.#tooLong(nonce)) {
      session.flood.countJunk('a ping whose pong would not fit a message');
      return;
    }
    session.replies.pong(nonce);
  }

  #tooLong(nonce: string): boolean {
    const { codec, maxFrameBytes } = this.session;
    // An escaped character takes up to six bytes.
    if (nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes) return false;
    return encodedLength(codec.encode({ type: 'pong', nonce })) > maxFrameBytes;
  }

  #answered({ nonce }: FrameOf<'pong'>): void {
    const ping = nonce === null ? undefined : this.#pings.get(nonce);
    if (nonce === null || ping === undefined) {
      this.session.flood.countJunk('a pong that answers no ping');
      return;
    }
    this.#pings.delete(nonce);
    const rttMs = steadyNow() - ping.sentAt;
    this.session.owner.answered(rttMs);
    ping.answered(rttMs);
  }

  #goneAway(frame: FrameOf<'goaway'>): void {
    if (++this.#goaways > MAX_GOAWAYS) throw ConnectionFault.tooMuch(`more than ${MAX_GOAWAYS} goaways`);
    const last = this.goaway.receive(frame.last_stream, frame.code);
    if (last === null) this.session.flood.countJunk('a goaway that says nothing new');
    else this.session.goneAway(last, frame.code ?? ResetCode.NO_ERROR, frame.reason ?? '');
  }
}

function ignore(): void {
  // Nobody asked.
}
