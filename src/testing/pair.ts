import { GivenSocket } from '../peer/dial/given-socket.js';
import { resolveOptions } from '../peer/base/options.js';
import type { PeerOptions } from '../peer/base/options.js';
import { PeerCore } from '../peer/core/peer-core.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from './memory-link.js';
import type { Transport } from '../transport/transport.js';
import { checkObject } from '../wire/check.js';
import { readOptions } from '../wire/options.js';
import type { Options } from '../wire/options.js';
import { subprotocol } from '../wire/subprotocol.js';
import { fateOf, LINE_OPTIONS, linkOf } from './link.js';
import type { LineOptions, Link } from './link.js';

/** Options of the two peers and of the line between them. */
export interface PairOptions extends LineOptions, Pick<PeerOptions, 'codec' | 'limits' | 'keepalive' | 'maxFrameBytes'> {
  /** Options of this end only; they override the options of both ends. Default none. */
  readonly dialer?: PeerOptions | undefined;
  /** Options of this end only; they override the options of both ends. Default none. */
  readonly acceptor?: PeerOptions | undefined;
}

/** Declares the options of a pair beyond the options of both peers. */
const PAIR_OPTIONS: Options<Pick<PairOptions, keyof LineOptions | 'dialer' | 'acceptor'>> = {
  ...LINE_OPTIONS,
  dialer: [checkObject, undefined],
  acceptor: [checkObject, undefined],
};

/** Two peers and the line between them. */
export interface Pair {
  readonly dialer: Peer;
  readonly acceptor: Peer;
  /** The line between the peers, to observe and to disturb it. */
  readonly link: Link;
}

/**
 * Makes two real peers, joined in memory: real codec and real sessions, without a socket. Messages travel on the clock of rxjs, so
 * their time is virtual under a TestScheduler. Keepalive is off by default.
 *
 * Both ends begin to read one turn later, when their handlers are in place.
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
  const { dialer, acceptor, latencyMs, faults } = readOptions(PAIR_OPTIONS, options);
  const dialerCore = new PeerCore(resolveOptions(optionsOf(dialer, options), true));
  const acceptorCore = new PeerCore(resolveOptions(optionsOf(acceptor, options), false));
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
