import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf } from '../peer/base/error-serializer.js';
import type { PeerContext } from '../peer/base/options.js';
import { guard } from '../rx/guard.js';
import type { Transport } from '../transport/transport.js';
import { answerHttp, ignoreErrors } from './answer-http.js';
import type { Seat } from './ledger.js';
import type { Refusal } from './mux-server.js';
import { AnsweredRefusal } from './refusal.js';
import type { Objection, RefusalLog } from './refusal.js';
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
  const seat = objectionTo(request, policy) ?? seatFor(request, policy);
  const vacate = (): void => {
    if (!('status' in seat)) seat.leave();
  };
  const unanswered = (reason: string): void => {
    vacate();
    handlers.unanswered(reason);
  };
  const refuse = (objection: Objection): void => {
    const refused = refuseUpgrade(request, socket, objection, policy.log, (refusal) => {
      vacate();
      handlers.refused(refusal);
    });
    if (!refused) unanswered(UPGRADED.has(socket) ? 'the socket was upgraded before' : 'the socket has ended');
  };
  const leave = (): void => {
    socket.destroy();
    unanswered('the dialer left before it was answered');
  };
  const complete = (): Transport | string => {
    try {
      const upgraded = policy.upgrader.upgrade(request, socket, head);
      if (typeof upgraded !== 'string') UPGRADED.add(socket);
      return upgraded;
    } catch (error) {
      // Leave the socket alone: it belongs to the listener that upgraded it first.
      unanswered(messageOf(error));
      throw error;
    }
  };
  const accept = (context: PeerContext | undefined, taken: Seat): void => {
    const upgraded = complete();
    if (typeof upgraded !== 'string') handlers.accepted(upgraded, context, taken);
    else refuse({ status: 400, cause: 'handshake', reason: upgraded });
  };
  const conclude = (ruling: Ruling, taken: Seat): void => {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') accept(ruling.context, taken);
      else if (ruling.answer === 'refuse') refuse(ruling.objection);
      else leave();
    });
  };
  if ('status' in seat) refuse(seat);
  else if (policy.verify === undefined) conclude(ACCEPTED, seat);
  else
    verified(request, socket, policy.verify, policy).subscribe((ruling) => {
      conclude(ruling, seat);
    });
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
