import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ConnectOptions } from '../peer/connect.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { resolveOptions } from '../peer/base/options.js';
import type { PeerOptions } from '../peer/base/options.js';
import { PeerCore } from '../peer/core/peer-core.js';
import { Peer } from '../peer/peer.js';
import { MemoryLink } from './memory-link.js';
import { MemorySocket } from './memory-socket.js';
import { checkObject } from '../wire/check.js';
import { readOptions } from '../wire/options.js';
import { fateOf, LINE_OPTIONS, linkOf } from './link.js';
import type { LineOptions, Link } from './link.js';

/** How a {@link createServer test server} answers. */
export interface TestServerOptions extends LineOptions, PeerOptions {}

/** A server in memory, for what dials again and again. */
export interface TestServer {
  /** Give it to `connect` as the option `socket`. */
  readonly socket: NonNullable<ConnectOptions['socket']>;
  /** Each peer that dials from now on (hot), before it begins to read; never completes. */
  readonly peers$: Observable<Peer>;
  /** The line to the peer that dialed last; `null` before. */
  readonly link: Link | null;
  /** From now on dials are refused with this HTTP status; with 0 nobody answers at all; with `null` they are taken again. */
  refuse(status: number | null): void;
}

/**
 * A server in memory, for tests of reconnecting: real peers and codec, time on rxjs's clock. Keepalive of its peers is off
 * unless asked for; that of the side that dials is on unless `connect` is told otherwise. Under `TestScheduler.run` virtual time
 * runs until nothing is left to do, which with pings is never.
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
  checkObject('options', options);
  const { latencyMs, faults } = readOptions(LINE_OPTIONS, options);
  const { keepalive = false } = options;
  const resolved = resolveOptions({ ...options, keepalive }, false);
  const peers$ = new Subject<Peer>();
  let link: Link | null = null;
  let refusal: number | null = null;
  return {
    peers$: peers$.asObservable(),
    get link() {
      return link;
    },
    refuse(status) {
      refusal = status;
    },
    socket(_url, protocol) {
      const core = new PeerCore(resolved);
      const line = new MemoryLink({ protocol, latencyMs, fate: fateOf(faults, core.codec) });
      if (refusal === null) {
        link = linkOf(line, core.codec);
        const peer = new Peer(core, new GivenSocket(core, line.ends.acceptor), resolved.onStream);
        peers$.next(peer);
        void peer.serve();
      }
      return new MemorySocket(line.ends.dialer, refusal);
    },
  };
}
