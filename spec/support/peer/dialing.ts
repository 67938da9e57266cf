import { lastValueFrom, timer } from 'rxjs';
import { connect } from '../../../src/index.js';
import type { CloseReason, ConnectOptions, ConnectUrl, Peer, PeerStatus, StreamHandler } from '../../../src/index.js';
import { framesOf } from './frames.js';
import type { Envelope } from './frames.js';
import { Network } from './network.js';
import type { NetworkOptions } from './network.js';

export const ADDRESS = 'wss://example.org/mux';

export const echo: StreamHandler = (payload, stream) => stream.reply(payload);

/** A server that answers each stream with its payload. */
export const echoing = (): Network => new Network({ onStream: echo });

/** A server that holds each stream open. */
export const holding = (): Network => new Network({ onStream: () => new Promise(() => undefined) });

/** A peer that dials into a network, without keepalive unless it is given. */
export const dialing = (network: Network, options: ConnectOptions = {}, url: ConnectUrl = ADDRESS): Peer =>
  connect(url, { socket: network.socket, keepalive: false, ...options });

/** A dialing peer and everything it reported. */
export interface Watched {
  readonly peer: Peer;
  readonly network: Network;
  /** The reasons that `onClose` got. */
  readonly reasons: readonly CloseReason[];
  /** Each status, in {@link spell}ing. */
  readonly states: readonly string[];
  readonly sent: readonly Envelope[];
}

/** {@link dialing}, watched from the first status on. */
export function watched(network: Network, options: ConnectOptions = {}): Watched {
  const peer = dialing(network, options);
  const reasons: CloseReason[] = [];
  const states: string[] = [];
  peer.onClose((reason) => reasons.push(reason));
  peer.status$.subscribe((status) => states.push(spell(status)));
  return { peer, network, reasons, states, sent: framesOf(peer) };
}

/** Reconnect delays so short that a test can wait for them. */
export const SOON = { minDelayMs: 10, maxDelayMs: 10 };

/** {@link watched}, with the reconnect helper. */
export const reconnecting = (network: Network, options: ConnectOptions = {}): Watched => watched(network, { reconnect: SOON, ...options });

export const welcome: StreamHandler = (payload, stream) => stream.reply(`welcome ${String(payload)}`);

/** A handler that does its work after `ms`. */
export const later =
  (ms: number, handler: StreamHandler): StreamHandler =>
  (payload, stream) =>
    lastValueFrom(timer(ms)).then(() => handler(payload, stream));

/** A dialing peer and a server that takes a hello. */
export const greeted = (options: ConnectOptions, server: NetworkOptions = { onHello: welcome, onStream: echo }): Watched =>
  watched(new Network(server), options);

/** A status in a few words: `waiting 2 offline`. */
export function spell(status: PeerStatus): string {
  switch (status.state) {
    case 'connecting':
      return `connecting ${status.attempt}`;
    case 'open':
      return `open ${status.reconnects}`;
    case 'waiting':
      return `waiting ${status.attempt}${status.offline ? ' offline' : ''}`;
    case 'draining':
      return `draining by ${status.by}`;
    case 'closed':
      return `closed ${status.reason.code}`;
  }
}
