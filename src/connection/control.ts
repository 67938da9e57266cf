import { Subscription, asyncScheduler, noop } from 'rxjs';
import type { Sink } from '../operators/demultiplex.js';
import { LazyMap } from '../util/collections.js';
import { TokenBucket, steadyNow } from '../util/time.js';
import { ResetCode } from '../wire/codes.js';
import type { CloseReason } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import type { CompleteFrame, ConnectionFrame, FrameOf } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { Rate } from '../util/time.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { Connection } from './connection.js';
import { goawayFrame } from './replies.js';

/** The two goaways of one connection: the one that this side sent, and the one that the remote sent. Neither ever raises its `last_stream`. */
export class GoAway {
  /** The code of the remote's goaway; `null` before the remote has sent one. */
  receivedCode: ResetCode | null = null;
  #dispatched = 0;
  /** `null` before this side has sent a goaway. */
  #sentLastStream: number | null = null;
  #receivedLastStream: number | null = null;

  /** A handler of the remote's stream `id` begins. */
  dispatched(id: number): void {
    this.#dispatched = Math.max(this.#dispatched, id);
  }

  /** Whether neither side has sent a goaway. */
  get isAbsent(): boolean {
    return this.#sentLastStream === null && this.receivedCode === null;
  }

  /** Returns the `last_stream` to announce: the highest stream of the remote whose handler was called. */
  announce(): number {
    return (this.#sentLastStream = Math.min(this.#sentLastStream ?? Infinity, this.#dispatched));
  }

  /** Returns whether a stream that the remote opens now is above the announced `last_stream`. */
  refuses(id: number): boolean {
    return id > (this.#sentLastStream ?? Infinity);
  }

  /**
   * Takes the remote's `last_stream`. Without one, the remote may have processed every stream of this side. No code means NO_ERROR.
   *
   * @returns this side's highest id that the remote may still answer; `null` if the goaway repeats an earlier one
   */
  receive(lastStream: number | null, code: ResetCode | null): number | null {
    const cut = Math.min(this.#receivedLastStream ?? Infinity, lastStream ?? Infinity);
    const why = code ?? ResetCode.NO_ERROR;
    if (cut === this.#receivedLastStream && why === this.receivedCode) return null;
    this.receivedCode = why;
    return (this.#receivedLastStream = cut);
  }
}

/** Bytes of a pong's envelope around its nonce, with some to spare. */
const PONG_ENVELOPE_BYTES = 64;

/** Each goaway costs a pass over all streams. An honest remote sends two or three. */
const MAX_GOAWAYS = 100;

/** A ping under way. */
interface Ping {
  readonly sentAt: number;
  readonly answered: (ms: number) => void;
  readonly lost: (reason: CloseReason) => void;
  readonly left: () => void;
}

/** Handles the frames of the connection itself, which is stream 0: ping, pong and goaway. */
export class ControlStream implements Sink<CompleteFrame> {
  readonly goaway = new GoAway();
  /** Made by `pacedPing`, for the first ping that an application asks for. */
  paced: PacedPings | null = null;
  readonly #pings = new LazyMap<string, Ping>();
  #pinged = 0;
  /** Cancels the outstanding keepalive ping, if any. */
  #cancelProbe = noop;
  #lost: CloseReason | null = null;
  #goaways = 0;

  constructor(private readonly connection: Connection) {}

  next(frame: ConnectionFrame): void {
    if (frame.type === 'ping') this.#answer(frame);
    else if (frame.type === 'pong') this.#answered(frame);
    else this.#goneAway(frame);
  }

  /**
   * Sends a ping. Calls `left` once the socket has the ping. Then calls `answered(rttMs)`, or `lost(reason)` if the connection ends first.
   *
   * @returns a function that cancels the wait; a later pong then counts as junk
   */
  ping(answered: (ms: number) => void, lost: (reason: CloseReason) => void = noop, left: () => void = noop): () => void {
    if (this.#lost !== null) {
      lost(this.#lost);
      return noop;
    }
    // The nonce distinguishes pings of one connection and is no secret. A remote that guesses it can fake only its own answer.
    const nonce = (++this.#pinged).toString(36);
    this.#pings.set(nonce, { sentAt: steadyNow(), answered, lost, left });
    this.connection.outbound.addAhead(new OutgoingFrame({ type: 'ping', nonce }, null));
    return () => {
      this.#pings.delete(nonce);
    };
  }

  /** The socket has accepted a ping. */
  pinged(nonce: string): void {
    this.#pings.get(nonce)?.left();
  }

  /** Sends a ping of the keepalive. Any sign of life answers it. */
  probe(): void {
    this.#cancelProbe();
    this.#cancelProbe = this.ping(noop);
  }

  /** The socket has ended. */
  connectionLost(reason: CloseReason): void {
    this.#lost = reason;
    for (const ping of this.#pings.values()) ping.lost(reason);
    this.#pings.clear();
    this.paced?.connectionLost();
  }

  /** Returns the goaway that announces this side's end. */
  announceGoaway(code: ResetCode, reason: string): OutgoingFrame {
    return goawayFrame(this.connection, code, this.goaway.announce(), reason);
  }

  #answer({ nonce }: FrameOf<'ping'>): void {
    const { connection } = this;
    connection.flood.countPing();
    if (nonce !== null && this.#tooLong(nonce)) {
      connection.flood.countJunk('a ping whose pong would not fit a message');
      return;
    }
    connection.budget.pinged(nonce, connection.flood.receivedBytes);
  }

  #tooLong(nonce: string): boolean {
    const { codec, maxFrameBytes } = this.connection;
    // An escaped character takes up to six bytes.
    if (nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes) return false;
    return encodedLength(codec.encode({ type: 'pong', nonce })) > maxFrameBytes;
  }

  #answered({ nonce }: FrameOf<'pong'>): void {
    const ping = nonce === null ? undefined : this.#pings.get(nonce);
    if (nonce === null || ping === undefined) {
      this.connection.flood.countJunk('a pong that answers no ping');
      return;
    }
    this.#pings.delete(nonce);
    const rttMs = steadyNow() - ping.sentAt;
    this.connection.owner.answered(rttMs);
    ping.answered(rttMs);
  }

  #goneAway(frame: FrameOf<'goaway'>): void {
    if (++this.#goaways > MAX_GOAWAYS) throw ConnectionFault.tooMuch(`more than ${MAX_GOAWAYS} goaways`);
    const last = this.goaway.receive(frame.last_stream, frame.code);
    if (last === null) this.connection.flood.countJunk('a goaway that says nothing new');
    else this.connection.goneAway(last, frame.code ?? ResetCode.NO_ERROR, frame.reason ?? '');
  }
}

/** Half of a remote's default limit (L2, `pings`), because keepalive and bulk send pings too. */
const RATE: Rate = { burst: 500, perSecond: 16 };
/** Time until the next token, in ms. */
const TOKEN_MS = Math.ceil(1000 / RATE.perSecond);

/** A caller of `ping()`. */
interface Caller {
  answered(ms: number): void;
  lost(reason: CloseReason): void;
}

/** Sends a ping for an application, which may ask as often as it likes. */
export function pacedPing(control: Pick<ControlStream, 'paced' | 'ping'>, answered: Caller['answered'], lost: Caller['lost']): void {
  control.paced ??= new PacedPings((onAnswer, onLoss) => {
    control.ping(onAnswer, onLoss);
  });
  control.paced.ask(answered, lost);
}

/** Paces an application's pings, so that the remote does not take them for a flood. Waiting callers share the next ping. */
export class PacedPings {
  readonly #bucket = new TokenBucket(RATE);
  #waiting: Caller[] = [];
  #timer = Subscription.EMPTY;

  constructor(private readonly send: (answered: Caller['answered'], lost: Caller['lost']) => void) {}

  ask(answered: Caller['answered'], lost: Caller['lost']): void {
    if (this.#waiting.length === 0 && this.#bucket.take()) {
      this.send(answered, lost);
      return;
    }
    this.#waiting.push({ answered, lost });
    if (this.#waiting.length > 1) return;
    this.#timer = asyncScheduler.schedule(() => {
      this.#bucket.take();
      this.#sendShared();
    }, TOKEN_MS);
  }

  /** The socket has ended. The shared ping reports the loss to waiting callers. */
  connectionLost(): void {
    this.#timer.unsubscribe();
    this.#sendShared();
  }

  #sendShared(): void {
    const callers = this.#waiting.splice(0);
    if (callers.length === 0) return;
    this.send(
      (ms) => {
        for (const caller of callers) caller.answered(ms);
      },
      (reason) => {
        for (const caller of callers) caller.lost(reason);
      },
    );
  }
}
