import { GivenSocket } from '../../../src/peer/dial/given-socket.js';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { acceptorCore } from '../../../src/peer/hello.js';
import { resolveHelloLimits } from '../../../src/peer/hello.js';
import type { HelloLimits } from '../../../src/peer/hello.js';
import { resolveOptions } from '../../../src/peer/options.js';
import type { PeerOptions } from '../../../src/peer/options.js';
import { Peer } from '../../../src/peer/peer.js';
import { linkOf } from '../../../src/testing/link.js';
import type { Link } from '../../../src/testing/link.js';
import { MemorySocket } from '../../../src/testing/memory-socket.js';
import { MemoryLink } from '../../../src/testing/memory-link.js';
import type { SocketLike } from '../../../src/transport/transport.js';

/** One dial as the server saw it. */
export interface Dialed {
  readonly url: string;
  readonly protocol: string;
  readonly link: Link;
  /** The socket of the dialer. */
  readonly socket: SocketLike;
  /** The accepted peer; it begins to read when the socket opens. */
  readonly peer: Peer;
}

/** The server's answer to a dial: it accepts the offered protocol or another one, stays silent, or refuses. */
export type Answer = 'accept' | 'silence' | { readonly protocol: string } | { readonly status: number | null };

export interface NetworkOptions extends PeerOptions {
  /** Greets the first stream of every peer. */
  readonly onHello?: StreamHandler | undefined;
  readonly helloTimeoutMs?: number | undefined;
  readonly helloLimits?: Partial<HelloLimits> | undefined;
}

/** A server for one dialing peer, controlled by a test. */
export class Network {
  readonly dials: Dialed[] = [];
  answer: Answer = 'accept';
  /** How often the dialer ended a socket that was not open yet. */
  givenUp = 0;

  constructor(private readonly options: NetworkOptions = {}) {}

  get last(): Dialed {
    const last = this.dials.at(-1);
    if (last === undefined) throw new Error('expected a dial');
    return last;
  }

  /** Pass this to `connect` as the option `socket`. */
  readonly socket = (url: string, protocol: string): SocketLike => {
    const { answer } = this;
    const { onHello, helloTimeoutMs = 10_000, helloLimits, ...options } = this.options;
    const selected = typeof answer === 'object' && 'protocol' in answer ? answer.protocol : protocol;
    const line = new MemoryLink({ protocol: selected });
    const hello = onHello === undefined ? null : { handler: onHello, timeoutMs: helloTimeoutMs, limits: resolveHelloLimits(helloLimits) };
    const core = acceptorCore({ ...resolveOptions({ keepalive: false, ...options }, false), hello });
    const peer = new Peer(core, new GivenSocket(core, line.ends.acceptor), options.onStream);
    if (answer === 'accept') void peer.serve();
    const status = typeof answer === 'object' && 'status' in answer ? (answer.status ?? 0) : null;
    const socket = answer === 'silence' ? this.#silent() : new MemorySocket(line.ends.dialer, status);
    this.dials.push({ url, protocol, peer, socket, link: linkOf(line, core.codec) });
    return socket;
  };

  #silent(): SocketLike {
    return {
      readyState: 0,
      protocol: '',
      bufferedAmount: 0,
      binaryType: 'arraybuffer',
      send: () => undefined,
      close: () => undefined,
      terminate: () => {
        this.givenUp++;
      },
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
    };
  }
}
