import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { GivenSocket } from '../peer/given-socket.js';
import { resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import { PeerCore } from '../peer/peer-core.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from '../transport/memory.js';
import type { Transport } from '../transport/transport.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Codec, Message } from '../wire/codec.js';
import type { Frame } from '../wire/frame.js';
import { subprotocol } from '../wire/subprotocol.js';

/** One end of a pair. */
export type Side = 'dialer' | 'acceptor';

/** One message of a link, decoded. */
export interface LinkMessage {
  readonly from: Side;
  readonly frame: Frame;
  /** 1, 2, … per direction. */
  readonly nth: number;
}

/** What a script does to a message; `undefined` delivers it. */
export type Fault = 'drop' | 'duplicate' | 'cut' | { readonly delayMs: number } | { readonly replace: Message };

/** Decides message by message. */
export type FaultScript = (message: LinkMessage) => Fault | undefined;

/** The line between two peers, in the hands of a test. */
export interface Link {
  /** Every message as it is sent. */
  readonly messages$: Observable<LinkMessage>;
  /** Ends the socket on both sides without a handshake; 1006 unless the reason says otherwise. */
  cut(reason?: Partial<CloseReason>): void;
  /** One side stops reading, as a process that hangs does. */
  stall(side: Side): void;
  resume(side: Side): void;
  /** One side reads `message` as if the other had sent it. */
  inject(to: Side, message: Message): void;
}

export interface PairOptions extends Pick<PeerOptions, 'codec' | 'limits' | 'keepalive' | 'maxFrameBytes'> {
  readonly dialer?: PeerOptions | undefined;
  readonly acceptor?: PeerOptions | undefined;
  /** How long each message travels, in ms. Default 0. */
  readonly latencyMs?: number | undefined;
  readonly faults?: FaultScript | undefined;
}

export interface Pair {
  readonly dialer: Peer;
  readonly acceptor: Peer;
  readonly link: Link;
}

/**
 * Two real peers, joined in memory: real codec, real sessions, no socket. Messages travel on rxjs's clock, so under a
 * TestScheduler their time is virtual. Keepalive is off unless it is asked for.
 *
 * Both ends begin to read a turn later, when handlers are in place.
 *
 * @example
 * ```ts
 * const { dialer, acceptor } = createPair();
 * acceptor.onStream((payload, stream) => stream.reply(`hello ${payload}`));
 * await dialer.request('you');   // 'hello you'
 * ```
 */
export function createPair(options: PairOptions = {}): Pair {
  const { dialer, acceptor, latencyMs, faults, ...shared } = options;
  const given = { keepalive: false as const, ...shared };
  const dialerCore = new PeerCore(resolveOptions({ ...given, ...dialer }, true));
  const acceptorCore = new PeerCore(resolveOptions({ ...given, ...acceptor }, false));
  const { codec } = dialerCore;
  const line = new MemoryLink({
    protocol: subprotocol(codec),
    latencyMs,
    fate: faults === undefined ? undefined : ({ from, message, nth }) => faults({ from, nth, frame: codec.decode(message) }),
  });
  return {
    dialer: begin(dialerCore, line.ends.dialer, dialer),
    acceptor: begin(acceptorCore, line.ends.acceptor, acceptor),
    link: linkOf(line, codec),
  };
}

function begin(core: PeerCore, transport: Transport, options: PeerOptions | undefined): Peer {
  const peer = new Peer(core, new GivenSocket(core, of(transport)));
  if (options?.onStream !== undefined) peer.onStream(options.onStream);
  void peer.serve();
  return peer;
}

function linkOf(line: MemoryLink, codec: Codec): Link {
  return {
    messages$: line.carried$.pipe(map(({ from, message, nth }) => ({ from, nth, frame: codec.decode(message) }))),
    cut(reason) {
      line.cut(reason);
    },
    stall(side) {
      line.ends[side].stall();
    },
    resume(side) {
      line.ends[side].unstall();
    },
    inject(to, message) {
      line.inject(to, message);
    },
  };
}
