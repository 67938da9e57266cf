import { Subscription } from 'rxjs';
import type { Loss, Connection } from '../../connection/connection.js';
import { log } from '../../logger.js';
import type { Absence } from '../../stream/stream-core.js';
import { ALWAYS_ONLINE, browserConnectivity } from '../../transport/connectivity.js';
import type { Connectivity } from '../../transport/connectivity.js';
import { abnormalClose } from '../../transport/transport.js';
import type { SocketClose, SocketLike, Transport } from '../../transport/transport.js';
import { W3cTransport } from '../../transport/w3c.js';
import { checkBoolean, checkOptions } from '../../util/check.js';
import type { NamesOf } from '../../util/check.js';
import { subprotocol } from '../../wire/codec.js';
import type { Message } from '../../wire/codec.js';
import { CodecMismatch } from '../../wire/errors.js';
import type { AnyMuxError, ConnectError } from '../../wire/errors.js';
import { NEVER_OPEN, PeerCore } from '../core.js';
import type { SocketSource } from '../core.js';
import type { StreamHandler } from '../hooks.js';
import { PEER_OPTIONS, resolveOptions } from '../options.js';
import type { PeerOptions } from '../options.js';
import { closeMismatched, connectError } from './failure.js';

/** The only socket of a peer, passed to its constructor or later to {@link give}. The peer closes when the socket ends. */
export class GivenSocket implements SocketSource {
  #started = false;
  #adopted = false;
  #warned = false;
  #transport: Transport | null;
  /** Whether the socket was open when it was given. Its early messages are then read, even if it has ended before {@link start}. */
  #wasOpen: boolean;
  #resumes = Subscription.EMPTY;

  /**
   * @param transport `null` if the socket is still to come
   * @param connectivity the connectivity of this program
   */
  constructor(
    private readonly core: PeerCore,
    transport: Transport | null = null,
    private readonly connectivity: Connectivity = browserConnectivity(),
  ) {
    this.#transport = transport;
    this.#wasOpen = transport?.writable === true;
  }

  get expectsSocket(): boolean {
    return !this.#adopted && !this.core.hasClosed;
  }

  get remedy(): string {
    return '';
  }

  get absence(): Absence {
    const reason = this.#started ? (this.#transport?.awaits ?? 'the socket did not open') : 'serve() was not called';
    return { reason, error: null };
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    if (this.#transport !== null) this.#open(this.#transport);
  }

  /** Passes the socket. */
  give(transport: Transport): void {
    this.#transport = transport;
    this.#wasOpen = transport.writable;
    if (this.#started) this.#open(transport);
  }

  /** Reports that the socket will never come. */
  fail(error: ConnectError): void {
    this.#failed(abnormalClose(error.message), error);
  }

  ensureDialing(): void {
    this.#warnUnlessStarted('a call');
  }

  /** A message has arrived that waits for its reader. */
  heard(): void {
    this.#warnUnlessStarted('a message of the remote');
  }

  dialNow(): void {
    // There is nothing to dial.
  }

  replace(): boolean {
    return false;
  }

  goneAway(): void {
    // There is no other socket to move to.
  }

  idle(): void {
    // There is no other socket to dial later.
  }

  lost(_session: Connection, close: SocketClose): Loss {
    return this.#loss(close, null);
  }

  stop(): void {
    // Start, so that an open socket closes in good order.
    this.start();
    if (this.#adopted) return;
    // Finish first, so that the end of the socket reports nothing more.
    this.core.finish(NEVER_OPEN, null);
    this.#transport?.terminate(NEVER_OPEN.reason);
  }

  #open(transport: Transport): void {
    if (this.core.hasClosed) transport.terminate(NEVER_OPEN.reason);
    else if (this.#wasOpen || transport.writable) this.#opened(transport);
    else
      transport.opened$.subscribe({
        complete: () => {
          this.#opened(transport);
        },
      });
  }

  /**
   * Closes a socket that speaks another subprotocol, and reads nothing from it. After a handshake without a subprotocol the codec
   * decides.
   */
  #opened(transport: Transport): void {
    const expected = subprotocol(this.core.codec);
    const { protocol, closed } = transport;
    if (closed !== null && !this.#wasOpen) this.#failed(closed, connectError(closed));
    else if (protocol === '' || protocol === expected) this.#adopt(transport);
    else {
      const mismatch = new CodecMismatch(expected, protocol);
      closeMismatched(transport, mismatch, () => {
        this.#failed(transport.closed ?? NEVER_OPEN, mismatch);
      });
    }
  }

  #adopt(transport: Transport): void {
    this.#adopted = true;
    const connection = this.core.connectionOver(transport);
    this.core.adopt(connection);
    // A `pagehide` closes nothing: only the program can make another socket.
    if (this.connectivity !== ALWAYS_ONLINE)
      this.#resumes = this.connectivity.events$.subscribe(() => {
        this.core.probe();
      });
    this.core.ready(connection, 0);
    connection.start();
  }

  #warnUnlessStarted(what: string): void {
    if (this.#started) return;
    const transport = this.#transport;
    // A server calls `start` one turn after its hooks, which may make the call.
    transport?.turn(() => {
      transport.turn(() => {
        if (this.#started || this.#warned) return;
        this.#warned = true;
        log('warn', `${this.core.label}: ${what} waits for peer.serve(), which begins to read and to send`);
      });
    });
  }

  #failed(close: SocketClose, error: AnyMuxError): void {
    if (!this.core.hasClosed) this.core.ended(this.#loss(close, error));
  }

  #loss(close: SocketClose, error: AnyMuxError | null): Loss {
    const reason = { ...close, willRetry: false };
    return {
      reason,
      follow: () => {
        this.#resumes.unsubscribe();
        this.core.finish(reason, error);
      },
    };
  }
}

/** Options of a peer over a socket of your own. */
export interface NewPeerOptions extends PeerOptions {
  /** Whether this side dialed. The dialer's stream ids are odd (S1). The other side refuses a hello; `accept` takes one by `onHello`. */
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
  checkBoolean('isDialer', options.isDialer);
  const core = new PeerCore(resolveOptions(options, options.isDialer));
  core.incoming.refusesHellos = !options.isDialer;
  const transport = new ServedSocket(socket);
  const source = new GivenSocket(core, transport);
  transport.source = source;
  return { core, source, handler: options.onStream };
}
