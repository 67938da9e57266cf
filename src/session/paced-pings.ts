import { asyncScheduler, Subscription } from 'rxjs';
import type { CloseReason } from '../wire/close-reason.js';
import type { Rate } from '../wire/limits.js';
import { TokenBucket } from './base/token-bucket.js';

/** Half of a remote's default limit (L2, `pings`), because keepalive and bulk send pings too. */
const RATE: Rate = { burst: 500, perSecond: 16 };
/** Time until the next token, in ms. */
const TOKEN_MS = Math.ceil(1000 / RATE.perSecond);

/** A caller of `ping()`. */
interface Caller {
  answered(ms: number): void;
  lost(reason: CloseReason): void;
}

/** Sends pings, and keeps the pace of those that an application asks for. */
interface Pinging {
  paced: PacedPings | null;
  ping(answered: Caller['answered'], lost: Caller['lost']): void;
}

/** Sends a ping for an application, which may ask as often as it likes. */
export function pacedPing(control: Pinging, answered: Caller['answered'], lost: Caller['lost']): void {
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
