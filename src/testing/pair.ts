import { GivenSocket } from '../peer/dial/given-socket.js';
import { resolveOptions } from '../peer/base/options.js';
import type { PeerOptions } from '../peer/base/options.js';
import { PeerCore } from '../peer/core/peer-core.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from './memory-link.js';
import type { Transport } from '../transport/transport.js';
import { checkObject, checkObjects } from '../wire/check.js';
import { subprotocol } from '../wire/subprotocol.js';
import { checkLine, fateOf, linkOf } from './link.js';
import type { FaultScript, Link } from './link.js';

/** How the two peers of a pair are made. */
export interface PairOptions extends Pick<PeerOptions, 'codec' | 'limits' | 'keepalive' | 'maxFrameBytes'> {
  /** Options of this end only; they override what both have. */
  readonly dialer?: PeerOptions | undefined;
  /** Options of this end only; they override what both have. */
  readonly acceptor?: PeerOptions | undefined;
  /** How long each message travels, in ms. Default 0. */
  readonly latencyMs?: number | undefined;
  /** Decides about each message, in either direction; `undefined` delivers it. Default: all are delivered. */
  readonly faults?: FaultScript | undefined;
}

/** Two peers and the line between them. */
export interface Pair {
  readonly dialer: Peer;
  readonly acceptor: Peer;
  /** The line between them: what it carries, and how to disturb it. */
  readonly link: Link;
}

/**
 * Two real peers, joined in memory: real codec, real sessions, no socket. Messages travel on rxjs's clock, so under a
 * TestScheduler their time is virtual. Keepalive is off unless it is asked for.
 *
 * Both ends begin to read a turn later, when handlers are in place.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const { dialer, acceptor } = createPair();
 * acceptor.onStream((payload, stream) => stream.reply(`hello ${payload}`));
 * await dialer.request('you');   // 'hello you'
 * ```
 */
export function createPair(options: PairOptions = {}): Pair {
  checkObject('options', options);
  const { dialer, acceptor, latencyMs, faults, ...shared } = options;
  checkObjects({ dialer, acceptor });
  checkLine(latencyMs, faults);
  const dialerCore = new PeerCore(resolveOptions(optionsOf(dialer, shared), true));
  const acceptorCore = new PeerCore(resolveOptions(optionsOf(acceptor, shared), false));
  const { codec } = dialerCore;
  const line = new MemoryLink({
    protocol: subprotocol(codec),
    latencyMs,
    fate: fateOf(faults, codec),
  });
  return {
    dialer: begin(dialerCore, line.ends.dialer, dialer),
    acceptor: begin(acceptorCore, line.ends.acceptor, acceptor),
    link: linkOf(line, codec),
  };
}

function optionsOf(own: PeerOptions | undefined, { keepalive: ofBoth = false, ...shared }: PeerOptions): PeerOptions {
  const { keepalive = ofBoth, ...others } = own ?? {};
  return { ...shared, ...others, keepalive };
}

function begin(core: PeerCore, transport: Transport, options: PeerOptions | undefined): Peer {
  const peer = new Peer(core, new GivenSocket(core, transport), options?.onStream);
  void peer.serve();
  return peer;
}
