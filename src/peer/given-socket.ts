import { Subscription } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Session } from '../session/session.js';
import type { Loss } from '../session/session-options.js';
import { browserSurroundings, STEADY } from '../transport/surroundings.js';
import type { Surroundings } from '../transport/surroundings.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import { CodecMismatch, isMuxError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import { subprotocol } from '../wire/subprotocol.js';
import { connectError } from './connect-error.js';
import { messageOf } from './error-serializer.js';
import { turnedAway } from './mismatch.js';
import type { PeerCore } from './peer-core.js';
import { NEVER_OPEN } from './socket-source.js';
import type { SocketSource } from './socket-source.js';

/** The one socket that a peer was made with, or will be given. When it ends, so does the peer. */
export class GivenSocket implements SocketSource {
  #opening: Subscription | null = null;
  #transport: Transport | null = null;
  #adopted = false;
  #wakes = Subscription.EMPTY;

  /**
   * @param transport$ emits the socket; errors with the ConnectError of a socket that will never come
   * @param surroundings those of the socket's program
   */
  constructor(
    private readonly core: PeerCore,
    private readonly transport$: Observable<Transport>,
    private readonly surroundings: Surroundings = browserSurroundings(),
  ) {}

  get hopeful(): boolean {
    return !this.#adopted && !this.core.isClosed;
  }

  start(): void {
    if (this.#opening !== null) return;
    const opening = (this.#opening = new Subscription());
    opening.add(
      this.transport$.subscribe({
        next: (transport) => {
          opening.add(this.#open(transport));
        },
        error: (error: unknown) => {
          const close = { code: CloseCode.ABNORMAL, reason: messageOf(error), wasClean: false };
          this.#failed(close, isMuxError(error) ? error : connectError(close));
        },
      }),
    );
  }

  wake(): void {
    // The socket opens by itself.
  }

  dialNow(): void {
    // There is nothing to dial.
  }

  replace(): boolean {
    return false;
  }

  goneAway(): void {
    // There is no other socket to go to.
  }

  lost(_session: Session, close: SocketClose): Loss {
    const reason = { ...close, willRetry: false };
    return {
      reason,
      follow: () => {
        this.#wakes.unsubscribe();
        this.core.finish(reason, null);
      },
    };
  }

  stop(): void {
    if (this.#adopted) return;
    // A socket that is open already is closed in good order.
    this.start();
    if (this.#adopted) return;
    if (this.#transport !== null) {
      this.#opening?.unsubscribe();
      this.#transport.terminate(NEVER_OPEN.reason);
    }
    this.core.finish(NEVER_OPEN, null);
  }

  #open(transport: Transport): Subscription {
    this.#transport = transport;
    if (this.core.isClosed) {
      transport.terminate(NEVER_OPEN.reason);
      return Subscription.EMPTY;
    }
    return transport.opened$.subscribe({
      complete: () => {
        this.#agree(transport);
      },
    });
  }

  /** One that speaks another subprotocol is closed, and nothing is read from it. A handshake without any leaves it to the codec. */
  #agree(transport: Transport): void {
    const expected = subprotocol(this.core.codec);
    const { protocol, closed } = transport;
    if (closed !== null || protocol === '' || protocol === expected) {
      this.#opened(transport);
      return;
    }
    const mismatch = new CodecMismatch(expected, protocol);
    const end = turnedAway(transport, mismatch).subscribe({
      complete: () => {
        this.#failed(transport.closed ?? NEVER_OPEN, mismatch);
      },
    });
    this.#opening?.add(end);
  }

  #opened(transport: Transport): void {
    if (transport.closed !== null) {
      this.#failed(transport.closed, connectError(transport.closed));
      return;
    }
    this.#adopted = true;
    const session = this.core.adopt(transport);
    if (this.surroundings !== STEADY)
      this.#wakes = this.surroundings.wakes$.subscribe(() => {
        this.core.probe();
      });
    this.core.ready(session, 0);
    session.start();
  }

  #failed(close: SocketClose, error: AnyMuxError): void {
    if (this.core.isClosed) return;
    const reason = { ...close, willRetry: false };
    this.core.ended({
      reason,
      follow: () => {
        this.core.finish(reason, error);
      },
    });
  }
}
