import { noop } from 'rxjs';
import type { Sink } from '../operators/route.js';
import type { FloodGuard } from '../session/base/flood-guard.js';
import { GoAway } from '../session/base/goaway.js';
import type { PacedPings } from '../session/paced-pings.js';
import type { AnswerHold } from '../session/receive/answer-hold.js';
import { goawayFrame } from '../session/send/control-frames.js';
import type { MessageForm } from '../session/send/control-frames.js';
import { LazyMap } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import type { CloseReason } from '../wire/close-reason.js';
import { ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/fault.js';
import type { ConnectionFrame, FrameOf } from '../wire/frame-types.js';
import type { CompleteFrame } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { Scheduler } from './outbound.js';

/** The parts of a session that the frames of the connection use. */
export interface ControlHost extends MessageForm {
  readonly flood: FloodGuard;
  readonly hold: Pick<AnswerHold, 'pinged'>;
  readonly scheduler: Pick<Scheduler, 'addAhead'>;
  readonly owner: {
    /** The remote has answered a ping after `rttMs`. */
    answered(rttMs: number): void;
  };
  /** The remote goes away. It has not processed this side's streams above `last`. */
  goneAway(last: number, code: ResetCode, reason: string): void;
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

  constructor(private readonly host: ControlHost) {}

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
    this.host.scheduler.addAhead(new OutgoingFrame({ type: 'ping', nonce }, null));
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
    return goawayFrame(this.host, code, this.goaway.announce(), reason);
  }

  #answer({ nonce }: FrameOf<'ping'>): void {
    const { host } = this;
    host.flood.countPing();
    if (nonce !== null && this.#tooLong(nonce)) {
      host.flood.countJunk('a ping whose pong would not fit a message');
      return;
    }
    host.hold.pinged(nonce, host.flood.receivedBytes);
  }

  #tooLong(nonce: string): boolean {
    const { codec, maxFrameBytes } = this.host;
    // An escaped character takes up to six bytes.
    if (nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes) return false;
    return encodedLength(codec.encode({ type: 'pong', nonce })) > maxFrameBytes;
  }

  #answered({ nonce }: FrameOf<'pong'>): void {
    const ping = nonce === null ? undefined : this.#pings.get(nonce);
    if (nonce === null || ping === undefined) {
      this.host.flood.countJunk('a pong that answers no ping');
      return;
    }
    this.#pings.delete(nonce);
    const rttMs = steadyNow() - ping.sentAt;
    this.host.owner.answered(rttMs);
    ping.answered(rttMs);
  }

  #goneAway(frame: FrameOf<'goaway'>): void {
    if (++this.#goaways > MAX_GOAWAYS) throw ConnectionFault.tooMuch(`more than ${MAX_GOAWAYS} goaways`);
    const last = this.goaway.receive(frame.last_stream, frame.code);
    if (last === null) this.host.flood.countJunk('a goaway that says nothing new');
    else this.host.goneAway(last, frame.code ?? ResetCode.NO_ERROR, frame.reason ?? '');
  }
}
