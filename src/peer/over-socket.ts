import type { SocketLike } from '../transport/socket-like.js';
import { W3cTransport } from '../transport/w3c.js';
import type { Message } from '../wire/codec.js';
import { checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import type { StreamHandler } from './hooks.js';
import { PEER_OPTIONS, resolveOptions } from './options.js';
import type { PeerOptions } from './options.js';
import { PeerCore } from './core.js';
import type { SocketSource } from './core/socket-source.js';
import { GivenSocket } from './dial/given-socket.js';

/** Options of a peer over a socket of your own. */
export interface NewPeerOptions extends PeerOptions {
  /** Whether this side dialed. The dialer's stream ids are odd (S1). */
  readonly isDialer: boolean;
}

/** The parts that a peer is made of. */
export interface PeerParts {
  readonly core: PeerCore;
  readonly source: SocketSource;
  readonly handler: StreamHandler | undefined;
}

/** Names {@link NewPeerOptions} beyond {@link PeerOptions}. */
const OWN_OPTIONS: NamesOf<Omit<NewPeerOptions, keyof PeerOptions>> = { isDialer: true };

/** A socket that reports messages before `serve`: a peer that only answers makes no call that would warn of a missing `serve`. */
class ServedSocket extends W3cTransport {
  source: GivenSocket | null = null;

  protected override keep(message: Message): void {
    super.keep(message);
    this.source?.heard();
  }
}

/** Returns the parts of a peer over one socket of the user's. */
export function overSocket(socket: SocketLike, options: NewPeerOptions): PeerParts {
  checkOptions(options, PEER_OPTIONS, OWN_OPTIONS);
  const core = new PeerCore(resolveOptions(options, options.isDialer));
  const transport = new ServedSocket(socket);
  const source = new GivenSocket(core, transport);
  transport.source = source;
  return { core, source, handler: options.onStream };
}
