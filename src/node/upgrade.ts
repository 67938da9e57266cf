import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { fromEvent, merge } from 'rxjs';
import { ruling$, seatOrObjection } from '../acceptor/judge.js';
import type { Policy, Ruling } from '../acceptor/judge.js';
import type { Seat } from '../acceptor/ledger.js';
import type { Objection } from '../acceptor/verdict.js';
import type { PeerContext } from '../peer/options.js';
import { guard } from '../rx/subscribers.js';
import { messageOf } from '../stream/end.js';
import type { Transport } from '../transport/transport.js';
import type { WsUpgrader } from '../transport/ws/ws.js';
import type { Refusal } from './mux-server.js';
import { UPGRADED, askedBy, refuseUpgrade } from './refusal.js';

/** The rules that judge an upgrade request, and what completes it. */
export interface UpgradePolicy extends Policy<IncomingMessage> {
  readonly upgrader: WsUpgrader;
}

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
 * dialer cannot distinguish that from a lost connection. The caller already ignores the socket's errors.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, policy: UpgradePolicy, handlers: UpgradeHandlers): void {
  const seat = seatOrObjection(askedBy(request), policy);
  const leave = (): void => {
    if (!('status' in seat)) seat.leave();
  };
  const unanswered = (reason: string): void => {
    leave();
    handlers.unanswered(reason);
  };
  const refuse = (objection: Objection): void => {
    const isAnswered = refuseUpgrade(request, socket, objection, policy.log, (refusal) => {
      leave();
      handlers.refused(refusal);
    });
    if (!isAnswered) unanswered(UPGRADED.has(socket) ? 'the socket was upgraded before' : 'the socket has ended');
  };
  if ('status' in seat) {
    refuse(seat);
    return;
  }
  const accept = (context: PeerContext | undefined): void => {
    let upgraded: Transport | string;
    try {
      upgraded = policy.upgrader.upgrade(request, socket, head);
    } catch (error) {
      // Leave the socket alone: it belongs to the listener that upgraded it first.
      unanswered(messageOf(error));
      throw error;
    }
    if (typeof upgraded === 'string') refuse({ status: 400, cause: 'handshake', reason: upgraded });
    else {
      UPGRADED.add(socket);
      handlers.accepted(upgraded, context, seat);
    }
  };
  const follow = (ruling: Ruling): void => {
    guard('an upgrade', () => {
      if (ruling.answer === 'accept') accept(ruling.context);
      else if (ruling.answer === 'refuse') refuse(ruling.objection);
      else {
        socket.destroy();
        unanswered('the dialer left before it was answered');
      }
    });
  };
  const leaves$ = merge(fromEvent(socket, 'end'), fromEvent(socket, 'close'));
  ruling$(request, policy, leaves$).subscribe(follow);
}
