import { concat, concatMap, EMPTY, of, Subscription } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Session } from '../session/session.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import type { CloseReason } from '../wire/close-reason.js';
import { ConnectError } from '../wire/errors.js';
import { connectError } from './connect-error.js';
import { messageOf } from './error-serializer.js';
import type { PeerCore } from './peer-core.js';
import { NEVER_OPEN } from './socket-source.js';
import type { SocketSource } from './socket-source.js';

/** The one socket that a peer was made with, or will be given. When it ends, so does the peer. */
export class GivenSocket implements SocketSource {
  #opening: Subscription | null = null;
  #transport: Transport | null = null;
  #adopted = false;

  /** @param transport$ emits the socket; errors with the ConnectError of a socket that will never come */
  constructor(
    private readonly core: PeerCore,
    private readonly transport$: Observable<Transport>,
  ) {}

  get hopeful(): boolean {
    return !this.#adopted && !this.core.isClosed;
  }

  start(): void {
    if (this.#opening !== null) return;
    this.#opening = new Subscription();
    const open$ = this.transport$.pipe(concatMap((transport) => this.#whenOpen(transport)));
    this.#opening.add(
      open$.subscribe({
        next: (transport) => {
          this.#opened(transport);
        },
        error: (error: unknown) => {
          const close = { code: CloseCode.ABNORMAL, reason: messageOf(error), wasClean: false };
          this.#failed(close, error instanceof ConnectError ? error : connectError({ ...close, willRetry: false }, null, false));
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

  lost(_session: Session, close: SocketClose): CloseReason {
    return { ...close, willRetry: false };
  }

  afterLoss(reason: CloseReason): void {
    this.core.finish(reason, null);
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

  #whenOpen(transport: Transport): Observable<Transport> {
    this.#transport = transport;
    if (!this.core.isClosed) return concat(transport.opened$, of(transport));
    transport.terminate(NEVER_OPEN.reason);
    return EMPTY;
  }

  #opened(transport: Transport): void {
    if (transport.closed !== null) {
      this.#failed(transport.closed, connectError({ ...transport.closed, willRetry: false }, null, false));
      return;
    }
    this.#adopted = true;
    const session = this.core.adopt(transport);
    this.core.ready(session, 0);
    session.start();
  }

  #failed(close: SocketClose, error: ConnectError): void {
    if (this.core.isClosed) return;
    const reason = { ...close, willRetry: false };
    this.core.dialFailed(reason);
    this.core.finish(reason, error);
  }
}
