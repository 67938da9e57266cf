import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf } from '../peer/base/error-serializer.js';
import type { PeerContext } from '../peer/options.js';
import { guard } from '../rx/guard.js';
import type { Transport } from '../transport/transport.js';
import { answerHttp, ignoreErrors } from './answer-http.js';
import type { Refusal } from './mux-server.js';
import { AnsweredRefusal } from './refusal.js';
import type { Objection, RefusalLog } from './refusal.js';
import type { Seat } from './totals.js';
import { ACCEPTED, objectionTo, seatFor, verified } from './upgrade-policy.js';
import type { Ruling, UpgradePolicy } from './upgrade-policy.js';

/** Receives the outcome of an upgrade request: exactly one method is called, once. */
export interface UpgradeHandlers {
  /** @param context the context that `verify` returned, if any */
  accepted(transport: Transport, context: PeerContext | undefined, seat: Seat): void;
  refused(refusal: Refusal): void;
  /** The request got no answer here: the dialer left first, or another listener answered first. */
  unanswered(reason: string): void;
}

/**
 * Judges an upgrade before it happens, and answers 101 or an HTTP status that says what is wrong. It never upgrades and then closes: a
 * dialer cannot distinguish that from a lost connection.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, policy: UpgradePolicy, handlers: UpgradeHandlers): void {
  ignoreErrors(socket);
  new Upgrade(request, socket, head, policy, handlers).judge();
}

/** One upgrade request, until it has its answer. */
class Upgrade {
  /** The seat of the connection; `null` without one. */
  #seat: Seat | null = null;

  constructor(
    private readonly request: IncomingMessage,
    private readonly socket: Duplex,
    private readonly head: Buffer,
    private readonly policy: UpgradePolicy,
    private readonly handlers: UpgradeHandlers,
  ) {}

  judge(): void {
    const { request, socket, policy } = this;
    const seat = objectionTo(request, policy) ?? seatFor(request, policy);
    if ('status' in seat) {
      this.#refuse(seat);
      return;
    }
    this.#seat = seat;
    if (policy.verify === undefined) this.#follow(ACCEPTED, seat);
    else
      verified(request, socket, policy.verify, policy).subscribe((ruling) => {
        this.#follow(ruling, seat);
      });
  }

  #follow(ruling: Ruling, seat: Seat): void {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') this.#accept(ruling.context, seat);
      else if (ruling.answer === 'refuse') this.#refuse(ruling.objection);
      else this.#dialerLeft();
    });
  }

  #accept(context: PeerContext | undefined, seat: Seat): void {
    const upgraded = this.#complete();
    if (typeof upgraded !== 'string') this.handlers.accepted(upgraded, context, seat);
    else this.#refuse({ status: 400, cause: 'handshake', reason: upgraded });
  }

  #complete(): Transport | string {
    const { request, socket, head, policy } = this;
    try {
      const upgraded = policy.upgrader.upgrade(request, socket, head);
      if (typeof upgraded !== 'string') UPGRADED.add(socket);
      return upgraded;
    } catch (error) {
      // Leave the socket alone: it belongs to the listener that upgraded it first.
      this.#unanswered(messageOf(error));
      throw error;
    }
  }

  #refuse(objection: Objection): void {
    const { request, socket, policy } = this;
    const isAnswered = refuseUpgrade(request, socket, objection, policy.log, (refusal) => {
      this.#seat?.leave();
      this.handlers.refused(refusal);
    });
    if (!isAnswered) this.#unanswered(UPGRADED.has(socket) ? 'the socket was upgraded before' : 'the socket has ended');
  }

  #dialerLeft(): void {
    this.socket.destroy();
    this.#unanswered('the dialer left before it was answered');
  }

  #unanswered(reason: string): void {
    this.#seat?.leave();
    this.handlers.unanswered(reason);
  }
}

/** Refuses a request, and logs the refusal. Returns `false` if the socket has ended or was upgraded before. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  objection: Objection,
  log: RefusalLog,
  refused: (refusal: Refusal) => void,
): boolean {
  if (UPGRADED.has(socket) || !answerHttp(socket, objection)) return false;
  const refusal = new AnsweredRefusal(objection, request);
  log.note(refusal, objection);
  refused(refusal);
  return true;
}

/** Sockets that were upgraded here. They speak WebSocket, so an HTTP answer would be read as a frame. */
const UPGRADED = new WeakSet<Duplex>();
