import { answering } from '../contract/answer.js';
import type { AnswerOptions, Answers } from '../contract/answer.js';
import { client } from '../contract/client.js';
import type { Client, ClientOptions } from '../contract/client.js';
import type { Contract, NamesOf } from '../contract/contract.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerContext, PeerOptions } from '../peer/options.js';
import { PeerCore } from '../peer/core.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from './memory-link.js';
import type { Transport } from '../transport/transport.js';
import { checkObject } from '../util/check.js';
import { asGiven, checkOptions, readOptions, refuseUnknown } from '../util/check.js';
import type { Options } from '../util/check.js';
import { subprotocol } from '../wire/codec.js';
import { fateOf, LINE_OPTIONS, linkOf } from './link.js';
import type { LineOptions, Link } from './link.js';

/** Options of the two peers and of the line between them. */
export interface PairOptions extends LineOptions, Pick<PeerOptions, 'codec' | 'limits' | 'keepalive' | 'maxFrameBytes'> {
  /** Options of this end only; they override the options of both ends. Default none. */
  readonly dialer?: PeerOptions | undefined;
  /** Options of this end only; they override the options of both ends. Default none. */
  readonly acceptor?: PeerOptions | undefined;
}

/** Declares the options of a pair. Each peer checks the values of its own. */
const PAIR_OPTIONS: Options<PairOptions> = {
  ...LINE_OPTIONS,
  codec: [asGiven, undefined],
  limits: [asGiven, undefined],
  keepalive: [asGiven, undefined],
  maxFrameBytes: [asGiven, undefined],
  dialer: [checkEnd, undefined],
  acceptor: [checkEnd, undefined],
};

/** The names that a pair with a contract takes too. */
const CONTRACT_NAMES = { around: true, overflow: true, validate: true };

/** Two peers and the line between them. */
export interface Pair {
  /** The peer that dialed. */
  readonly dialer: Peer;
  /** The peer that accepted. */
  readonly acceptor: Peer;
  /** The line between the peers, to observe and to disturb it. */
  readonly link: Link;
}

/** How a pair with a contract is made. */
export interface ContractPairOptions<C, V extends boolean = boolean>
  extends PairOptions, Omit<AnswerOptions<PeerContext, NamesOf<C>>, 'validate'>, ClientOptions<V> {
  /** Whether both ends check replies and items. Default: the answering side alone, as `answering` and `client` do. */
  readonly validate?: V | undefined;
}

/** A pair whose acceptor answers a contract. */
export interface ContractPair<C, V = false> extends Pair {
  /** The calls of the dialer. */
  readonly calls: Client<C, V>;
}

/**
 * A pair whose acceptor answers a contract, and the calls of its dialer.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option and for a procedure without an answer
 *
 * @example
 * ```ts
 * import { api } from './api.ts';
 *
 * const { calls } = createPair(api, { square: ({ n }) => n * n, countdown: ({ from }) => [from] });
 * await calls.square.promise({ n: 12 });   // 144
 * ```
 */
export function createPair<C extends Contract, V extends boolean = false>(
  api: C,
  answers: Answers<C>,
  options?: ContractPairOptions<C, V>,
): ContractPair<C, V>;
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
export function createPair(options?: PairOptions): Pair;
export function createPair(
  given: PairOptions | Contract = {},
  answers?: Answers<Contract>,
  options: ContractPairOptions<Contract> = {},
): Pair {
  if (answers === undefined) {
    checkOptions(given, PAIR_OPTIONS);
    return pairOf(given);
  }
  checkOptions(options, PAIR_OPTIONS, CONTRACT_NAMES);
  const { around, overflow, validate, ...ofPair } = options;
  const api = given as Contract;
  const pair = pairOf(ofPair);
  answering(api, answers, { around, overflow, validate }).onPeer(pair.acceptor);
  const answered: ContractPair<Contract, boolean> = { ...pair, calls: client(pair.dialer, api, { validate }) };
  return answered;
}

function pairOf(options: PairOptions): Pair {
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

function checkEnd(name: string, options: PeerOptions): PeerOptions {
  refuseUnknown(name, checkObject(name, options), PEER_OPTIONS);
  return options;
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
