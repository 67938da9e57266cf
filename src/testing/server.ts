import { noop, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ConnectOptions } from '../peer/connect.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { acceptorCore, DEFAULT_HELLO_LIMITS, HELLO_TIMEOUT_MS } from '../peer/hello.js';
import type { StreamHandler } from '../peer/hooks.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import { PeerCore } from '../peer/core.js';
import { Peer } from '../peer/peer.js';
import { guard } from '../rx/subscribers.js';
import { MemoryLink } from './memory-link.js';
import { MemorySocket } from './memory-socket.js';
import { subprotocol } from '../wire/codec.js';
import { checkFunction, checkNumber, checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { fateOf, LINE_OPTIONS, linkOf } from './link.js';
import type { LineOptions, Link } from './link.js';

/** The status of a server for a dial that offers the subprotocol of another codec. */
const WRONG_OFFER = 400;

/** Options of a {@link createServer test server}. */
export interface TestServerOptions extends LineOptions, PeerOptions {
  /** Receives each peer before it begins to read, as the `onPeer` of `answering` does. Default none. */
  readonly onPeer?: ((peer: Peer) => void) | undefined;
  /** Takes each hello, as the `onHello` of `serve` does. Default none: `onStream` gets it as the first stream. */
  readonly onHello?: StreamHandler | undefined;
}

/** Declares the options of a test server. Each peer checks the values of its own. */
const SERVER_OPTIONS: Options<Omit<TestServerOptions, keyof PeerOptions>> = {
  ...LINE_OPTIONS,
  onPeer: [checkFunction, undefined],
  onHello: [checkFunction, undefined],
};

/** A server in memory, for peers that dial again and again. */
export interface TestServer {
  /** Pass it to `connect` as the option `socket`. */
  readonly socket: NonNullable<ConnectOptions['socket']>;
  /** Emits each peer that dials from now on (hot), before it begins to read; never completes. */
  readonly peers$: Observable<Peer>;
  /** The line to the latest peer that dialed; `null` before. */
  readonly link: Link | null;
  /** Refuses later dials with this HTTP status. With 0 no server answers them at all; with `null` the server accepts dials again. */
  refuse(status: number | null): void;
}

/**
 * Makes a server in memory, for tests of reconnecting: real peers and codec, time on the clock of rxjs.
 *
 * Keepalive of its peers is off by default; keepalive of the dialing side is on unless you pass `keepalive: false` to `connect`. Under
 * `TestScheduler.run` virtual time runs until no task is left, which never happens with pings.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
 * const peer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true });
 * await peer.request('hi');   // 'hi'
 * server.link?.cut();         // the peer dials again
 * ```
 */
export function createServer(options: TestServerOptions = {}): TestServer {
  checkOptions(options, SERVER_OPTIONS, PEER_OPTIONS);
  const { latencyMs, faults, onPeer = noop, onHello } = readOptions(SERVER_OPTIONS, options);
  const { keepalive = false } = options;
  const resolved = resolveOptions({ ...options, keepalive }, false);
  const hello = onHello === undefined ? null : { handler: onHello, timeoutMs: HELLO_TIMEOUT_MS, limits: DEFAULT_HELLO_LIMITS };
  const peers$ = new Subject<Peer>();
  let link: Link | null = null;
  let refusal: number | null = null;
  return {
    peers$: peers$.asObservable(),
    get link() {
      return link;
    },
    refuse(status) {
      refusal = status === null ? null : checkNumber('refuse', status);
    },
    socket(_url, protocol) {
      const core = hello === null ? new PeerCore(resolved) : acceptorCore({ ...resolved, hello });
      const line = new MemoryLink({ protocol, latencyMs, fate: fateOf(faults, core.codec) });
      const status = refusal ?? (protocol === subprotocol(core.codec) ? null : WRONG_OFFER);
      if (status === null) {
        link = linkOf(line, core.codec);
        const peer = new Peer(core, new GivenSocket(core, line.ends.acceptor), resolved.onStream);
        guard('onPeer', () => onPeer(peer));
        peers$.next(peer);
        void peer.serve();
      }
      return new MemorySocket(line.ends.dialer, status);
    },
  };
}
