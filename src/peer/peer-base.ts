import type { Observable } from 'rxjs';
import { asyncDispose, unheeded } from '../stream/promises.js';
import type { StreamHost } from '../stream/stream-core.js';
import type { Codec } from '../wire/codec.js';
import type { CloseReason } from '../wire/codes.js';
import type { PeerCore, SocketSource } from './core.js';
import { resolveClose } from './options.js';
import type { CloseOptions, PeerContext } from './options.js';
import type { PeerStatus } from './status.js';

/** The state of a connection, and its end. The peers of all entry points have these members; what opens streams is theirs. */
export abstract class PeerBase {
  readonly #core: PeerCore;

  /** @internal */
  constructor(core: PeerCore, source: SocketSource, makeStream: StreamHost['makeStream']) {
    this.#core = core;
    core.belongTo(this, source, makeStream);
  }

  /** @internal `null` for a peer of another copy of the package. */
  static core(peer: PeerBase): PeerCore | null {
    return #core in peer ? peer.#core : null;
  }

  /**
   * Whether this side dialed. Streams of the dialer have odd ids, streams of the acceptor have even ones (S1).
   *
   * @example
   * ```ts
   * connect('wss://example.org/mux').isDialer;   // true
   * ```
   */
  get isDialer(): boolean {
    return this.#core.options.isDialer;
  }

  /**
   * The codec of every message, in both directions (V5). It is the option `codec`, or else the codec that was registered under
   * `settings.codec` when the peer was made.
   *
   * @example
   * ```ts
   * connect('wss://example.org/mux').codec.name;   // 'json'
   * ```
   */
  get codec(): Codec {
    return this.#core.codec;
  }

  /**
   * The context that the acceptor's `verify` returned, or the option `context`. A peer of `handleUpgrade` has the option's value until
   * `verify` has decided.
   */
  get context(): PeerContext {
    return this.#core.context;
  }

  /**
   * The current state of the connection.
   *
   * @example
   * ```ts
   * await peer.opened;
   * peer.status;   // { state: 'open', reconnects: 0 }
   * ```
   */
  get status(): PeerStatus {
    return this.#core.status.now;
  }

  /** Emits the current {@link status} on subscription, then each change; completes after `closed`. */
  get status$(): Observable<PeerStatus> {
    return this.#core.status.status$;
  }

  /**
   * Bytes of payload that this side has accepted for sending and no socket has passed on to the system. They wait for a connection, for
   * their turn, or in the socket, where envelopes count too.
   *
   * Check it, as with a WebSocket, before you push without waiting, for example with `notify`: such calls have no other back-pressure
   * (RELIABILITY.md).
   *
   * @example
   * ```ts
   * for (const peer of server.peers) if (peer.bufferedAmount < 1_000_000) peer.notify(price);
   * peer.bufferedAmount;   // 0 if the remote reads
   * ```
   */
  get bufferedAmount(): number {
    return this.#core.bufferedAmount;
  }

  /**
   * Resolves with this peer once the socket is open and the hello was answered. A socket whose remote goes away during the hello does
   * not count.
   *
   * Rejects once that can no longer happen: with the error of the status `closed`, or else with a ConnectionLostError. You need not
   * handle the rejection. Reading this does not make a `lazy` peer dial. Each read returns a new promise: after a lost socket, it waits
   * for the next socket.
   *
   * @example
   * ```ts
   * const peer = await connect('wss://example.org/mux', { reconnect: true }).opened;
   * peer.status.state;   // 'open'
   * ```
   */
  get opened(): Promise<this> {
    return unheeded((resolve, fail) => {
      this.#core.status.whenOpened(() => {
        resolve(this);
      }, fail);
    });
  }

  /** Resolves with the reason of the last socket once the peer has ended for good. Never rejects. Always the same promise. */
  get closed(): Promise<CloseReason> {
    return this.#core.status.closed;
  }

  /**
   * Closes the connection in good order (C8):
   *
   * - it sends a goaway and everything that was accepted for sending
   * - live streams have `drainMs` to end; then the rest is reset with CANCEL
   * - the WebSocket closes with 1000 once the remote has read everything, even over lines of 8 kB/s
   * - the socket is terminated if nothing moves for 2 s and no pong is still due (C2a)
   *
   * A second call can only shorten the drain; code and reason of the first call stay.
   *
   * Without a connection the peer can send nothing: waiting calls fail, and a waiting `notify` is dropped with a warning. If the
   * `notify` must arrive, `await peer.opened` first.
   *
   * @returns the same promise as {@link closed}: the reason of the last socket
   * @throws TypeError unless `drainMs` is a non-negative number, `code` an integer and `reason` a string; then the peer stays open
   *
   * @example
   * ```ts
   * await peer.close({ drainMs: 5_000 });   // { code: 1000, reason: '', wasClean: true, willRetry: false }
   * ```
   */
  close(options: CloseOptions = {}): Promise<CloseReason> {
    this.#core.close(resolveClose(options));
    return this.closed;
  }

  /**
   * Calls {@link close} with a `drainMs` of 0 at the end of an `await using` block, and waits for it. Streams that must end first must
   * be awaited in the block.
   *
   * @example
   * ```ts
   * await using peer = connect('wss://example.org/mux');
   * await peer.request({ op: 'sum', of: [1, 2] });   // 3; the peer closes at the end of the block
   * ```
   */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns state, side and counts, for logs: `Peer 3 (ws://localhost:8080) { state: open, dialer, streams: 2, bufferedAmount: 0 }`. */
  toString(): string {
    return this.#core.describe();
  }

  /** Makes `console.log` of Node print {@link toString}. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Keeps Vue from wrapping it in a Proxy, since Vue wraps only objects with the tag of a plain one. */
  get [Symbol.toStringTag](): string {
    return 'Peer';
  }

  /** Dials at once if the reconnect helper waits before its next dial. Otherwise it does nothing. */
  reconnectNow(): void {
    this.#core.source.dialNow();
  }
}
