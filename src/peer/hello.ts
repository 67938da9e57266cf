import { Subscription, asyncScheduler, noop } from 'rxjs';
import type { Connection, ConnectionLimits } from '../connection/connection.js';
import { log } from '../logger.js';
import { guard } from '../rx/subscribers.js';
import type { Deadline } from '../stream/deadlines.js';
import { endedHere, isCall, messageOf } from '../stream/end.js';
import { HELLO_HEADER, NO_HELLO, RENEWS, isMarked } from '../stream/hello-mark.js';
import { copyMetadata, freezeMetadata } from '../stream/metadata.js';
import { sendable } from '../stream/sending.js';
import { encodedPayload } from '../stream/payload.js';
import { StreamCore } from '../stream/stream-core.js';
import type { Stream } from '../stream/stream.js';
import { atLeast, checkNumber, readObject, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault, RefusedError } from '../wire/errors.js';
import type { MetadataInput } from '../wire/frame.js';
import type { Limits } from '../wire/limits.js';
import { runHandler } from './answers.js';
import type { Gate } from './answers.js';
import { readOne } from './calls.js';
import { PeerCore } from './core.js';
import type { DialContext } from './dial/dialer.js';
import type { StreamHandler } from './hooks.js';
import type { ResolvedOptions } from './options.js';

/** Default time limit of a hello and its reply together, on either side, in ms. */
export const HELLO_TIMEOUT_MS = 10_000;

/**
 * The first stream of every socket, for tokens and resume cursors (C11). A value that the codec cannot encode fails the dial.
 *
 * @example
 * ```ts
 * connect('wss://example.org/mux', { hello: () => ({ payload: { token }, onReply: (user) => console.log(user) }) });
 * // { name: 'ann' }
 * ```
 */
export interface Hello {
  /**
   * The payload for the server's `onHello`, at most 64 KiB unless the server's `helloLimits` say otherwise. If it is missing or
   * `undefined`, none is sent, and `onHello` receives `null` (S12).
   */
  readonly payload?: unknown;
  /** Headers of the hello's open. Open interceptors do not see them. Default none. */
  readonly headers?: MetadataInput | undefined;
  /** Receives the server's reply. As with a `StreamHandler`, its parameter may have a narrower type. */
  // Declared as a method, for the same reason as `StreamHandler`.
  readonly onReply?: { bivarianceHack(reply: unknown, stream: Stream): void }['bivarianceHack'] | undefined;
}

/** Makes the hello of each socket. */
export type MakeHello = (context: DialContext) => Hello | Promise<Hello>;

/**
 * Opens the stream of the hello, which open interceptors do not see. Calls `answered` or `failed`, and neither if the socket is ending: its
 * end fails the dial.
 *
 * @throws TypeError for a bad hello, and RefusedError if the remote goes away
 */
export function sayHello(
  core: PeerCore,
  connection: Connection,
  hello: Hello,
  timeoutMs: number,
  answered: () => void,
  failed: (error: unknown) => void,
): void {
  if (connection.isOver || !connection.transport.writable) return;
  if (!connection.acceptsStreams) throw new RefusedError('the remote is going away', null);
  checkHello(hello);
  const payload = encodedPayload(core.codec, hello.payload);
  const headers = freezeMetadata({ [HELLO_HEADER]: true, ...copyMetadata(hello.headers) }, core.codec);
  const fields = { type: 'open', payload: payload.value, headers, end: true };
  const frame = sendable(core, fields, payload, connection.nextId);
  const stream = new StreamCore(core, true, false, frame.headers, frame.payload);
  connection.adopt(stream);
  stream.limit(timeoutMs);
  readOne(
    stream,
    (reply) => {
      guard('onReply of the hello', () => hello.onReply?.(reply, stream.facade));
      answered();
    },
    failed,
  );
  stream.send(frame);
}

const HELLO_NAMES: readonly string[] = ['payload', 'headers', 'onReply'] satisfies (keyof Hello)[];

/** @throws TypeError for a value that is no hello; it shows only the value's type or a key, because the value may be a token */
export function checkHello(given: Hello): void {
  let got: string | undefined = (given as unknown) === null ? 'null' : Array.isArray(given) ? 'array' : typeof given;
  if (got === 'object') {
    const stray = Object.keys(given).find((key) => !HELLO_NAMES.includes(key));
    got = stray && `'${stray}': write { payload: { ${stray} } }`;
  }
  if (got !== undefined) throw new TypeError(`hello(): expected { payload, headers, onReply }, got ${got}`);
}

/** Names `onHello` in the log. */
export const HELLO_HANDLER = 'the hello handler onHello';

/** How an acceptor answers a hello. */
export interface ExpectedHello {
  readonly handler: StreamHandler;
  /** How long the hello may take from the opening of the socket on, in ms. */
  readonly timeoutMs: number;
  /** Limits of the connection until the hello is accepted. */
  readonly limits: HelloLimits;
}

/**
 * The acceptor's side of the hello (C12). It passes the first stream to `handler`, and refuses all others until the handler has replied.
 * Later it passes each fresh hello to `handler` too.
 */
export class HelloAcceptor implements Gate {
  /** The newest hello. */
  #hello: StreamCore | null = null;
  /** Whether an earlier hello of this socket was accepted, so that other streams need not wait for the newest. */
  #isRenewing = false;
  /** The timers of the end that the newest hello has set. */
  #session = Subscription.EMPTY;
  /** The timers of the hello before, whose end holds until the newest hello is accepted. */
  #earlier = Subscription.EMPTY;
  /** The end for which a fresh hello was asked last. A hello that keeps this end is not asked for again. */
  #askedFor = -Infinity;
  #deadline: Deadline | null = null;

  constructor(
    private readonly core: PeerCore,
    private readonly expected: ExpectedHello,
    private readonly limits: ConnectionLimits,
    private readonly wide: Limits,
  ) {}

  /** Whether the hello was answered, by a payload or an end (S11). A reset by this side revokes the answer. */
  get isAnswered(): boolean {
    const hello = this.#hello;
    if (hello === null) return false;
    const { cause } = hello;
    return cause === null || this.#isEndedByDialer() ? hello.replied : endedHere(cause);
  }

  /** Whether the dialer has reset the hello. A reply that was sent before then stands, even if the handler throws later. */
  #isEndedByDialer(): boolean {
    const cause = this.#hello?.cause;
    return cause?.how === 'reset' && cause.by === 'remote';
  }

  get isOpen(): boolean {
    return this.isAnswered || this.#isRenewing;
  }

  /** Starts the time limit of the hello, because a socket has opened. */
  socketOpened(): void {
    this.#limit();
  }

  /** Starts the time limit of the newest hello, in place of an earlier one. */
  #limit(): void {
    this.#stop();
    const expire = (): void => {
      if (!this.isAnswered) this.#reject();
    };
    this.#deadline = this.core.deadlines.add({ expire }, this.expected.timeoutMs);
  }

  admits(stream: StreamCore): boolean {
    if (this.isOpen && !isMarked(stream)) return true;
    if (this.#hello !== null && !this.isAnswered) stream.refuse('the hello has not been answered yet');
    else this.#take(stream);
    return false;
  }

  #take(stream: StreamCore): void {
    this.#isRenewing = this.#hello !== null;
    this.#hello = stream;
    if (stream.cause !== null) {
      this.#reject();
      return;
    }
    if (this.#isRenewing) {
      this.#earlier.unsubscribe();
      this.#earlier = this.#session;
      this.#session = Subscription.EMPTY;
      this.#limit();
    } else if (isMarked(stream)) this.#widenWhenAnswered();
    else if (isCall(stream.payload)) {
      stream.reset('library', ResetCode.PROTOCOL_ERROR, NO_HELLO);
      this.#end(new ConnectionFault(NO_HELLO));
      return;
    } else {
      this.#markReply(stream);
      this.#widenWhenAnswered();
    }
    runHandler(
      this.expected.handler,
      stream,
      (failed) => {
        // A newer hello has come since, which decides alone.
        if (this.#hello !== stream) return;
        this.#stop();
        if (!this.isAnswered || (failed && !this.#isEndedByDialer())) this.#reject();
        // The end of the session before holds no more, also where the fresh hello has set none.
        else this.#earlier.unsubscribe();
      },
      HELLO_HANDLER,
    );
  }

  /** Widens the limits as the answer leaves, before the dialer can have read it. */
  #widenWhenAnswered(): void {
    const stopWatching = this.core.ownHooks.frames.add(() => {
      if (!this.isAnswered) return;
      stopWatching();
      Object.assign(this.limits, this.wide, { note: undefined });
    });
  }

  /** Shows a dialer whose first stream may be an ordinary call that the acceptor took it for a hello. An older dialer ignores the mark. */
  #markReply(hello: StreamCore): void {
    const stopMarking = this.core.ownHooks.replyHeaders.add((headers, { id }) => {
      if (id !== hello.id) return;
      stopMarking();
      headers[HELLO_HEADER] = true;
    });
  }

  #reject(): void {
    const hint = this.#hello === null || isMarked(this.#hello) ? '' : '; it was not marked as one, so the client may lack the option hello';
    this.#end(new ConnectionFault(`the hello was refused${hint}`, ResetCode.REFUSED, CloseCode.POLICY));
  }

  #end(fault: ConnectionFault): void {
    this.#stop();
    for (const connection of this.core.connections) connection.fail(fault);
  }

  /** Removes the time limit of the hello. */
  #stop(): void {
    if (this.#deadline !== null) this.core.deadlines.cancel(this.#deadline);
    this.#deadline = null;
  }

  close(): void {
    this.#stop();
    this.#session.unsubscribe();
    this.#earlier.unsubscribe();
  }

  /**
   * Closes the peer at `endsAt`, on the clock of rxjs. Before that it asks a dialer that renews for a fresh hello.
   *
   * @param askBeforeMs how long before; at most half of the time that is left
   * @throws TypeError for a stream that is not the newest hello
   */
  endSession(hello: StreamCore, endsAt: number, askBeforeMs: number): void {
    if (hello !== this.#hello) throw new TypeError('sessionEnds: expected the stream that onHello received last, got another');
    this.#session.unsubscribe();
    const session = (this.#session = new Subscription());
    if (endsAt === Infinity) return;
    if (hello.headers[HELLO_HEADER] === RENEWS && endsAt > this.#askedFor)
      runAt(session, endsAt - Math.min(askBeforeMs, (endsAt - asyncScheduler.now()) / 2), () => {
        if (session === this.#session) this.#ask(endsAt);
      });
    runAt(session, endsAt, () => {
      // A fresh hello was accepted, and its handler goes on.
      if (session === this.#earlier && this.isAnswered) return;
      this.core.close({ drainMs: 0, code: ResetCode.NO_ERROR, reason: 'the session has ended' });
    });
  }

  #ask(endsAt: number): void {
    this.#askedFor = endsAt;
    const { core } = this;
    if (core.openConnection === null) return;
    // Not a call of the program, so none of its hooks sees the question.
    sayHello(core, core.openConnection, {}, Math.max(1, endsAt - asyncScheduler.now()), noop, (error) => {
      // A dialer that sends no fresh hello loses its connection when the session ends.
      log('debug', `${core.label}: the dialer sent no fresh hello: ${messageOf(error)}`);
    });
  }
}

/** Runs a task at a time on the clock of rxjs. */
function runAt(until: Subscription, at: number, task: () => void): void {
  const restMs = at - asyncScheduler.now();
  const next = restMs > LONGEST_TIMER_MS ? () => runAt(until, at, task) : task;
  until.add(asyncScheduler.schedule(next, Math.min(Math.max(0, restMs), LONGEST_TIMER_MS)));
}

/**
 * Limits of an acceptor until it has accepted the hello (L7). They have the names and units of {@link Limits}, and are never wider. A
 * breach has the same consequence as under `Limits`, and the reason adds that the hello was not accepted yet. The limits also hold for
 * answers to calls that this side makes before then. Defaults: 64 KiB, 10 000 items, 1 MiB.
 *
 * @example
 * ```ts
 * serve({ port: 8080, onHello, handler, helloLimits: { maxPayloadBytes: 256 * 1024 } });
 * // a hello of 300 KiB is reset with PAYLOAD_TOO_LARGE: … over the limit of 262144 (maxPayloadBytes), before the hello was accepted
 * ```
 */
export type HelloLimits = Pick<Limits, 'maxPayloadBytes' | 'maxPayloadItems' | 'maxHeldBytes'>;

/**
 * Declares every limit before the hello is accepted. The defaults leave room for one message of an honest sender, and little more. The
 * numbers are plain, so that a bundler sees that a page of a client does not need this table.
 */
const HELLO_LIMITS: Options<HelloLimits, HelloLimits> = {
  maxPayloadBytes: [checkNumber, 65_536],
  maxPayloadItems: [/* @__PURE__ */ atLeast(1), 10_000],
  maxHeldBytes: [checkNumber, 1_048_576],
};

/** The default of every limit before the hello is accepted. */
export const DEFAULT_HELLO_LIMITS: HelloLimits = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ readOptions(HELLO_LIMITS, {}));

/**
 * Checks every given limit once, and fills in the defaults.
 *
 * @throws TypeError naming the limit, what it accepts and what it got
 */
export function resolveHelloLimits(given: Given<HelloLimits> = {}): HelloLimits {
  return readObject('helloLimits', given, HELLO_LIMITS);
}

/** Returns the limits of one connection until its hello is accepted. The connection reads them at each use, so that {@link HelloAcceptor} can widen them. */
export function narrowed(wide: Limits, narrow: HelloLimits): ConnectionLimits {
  return {
    ...wide,
    maxPayloadBytes: Math.min(wide.maxPayloadBytes, narrow.maxPayloadBytes),
    maxPayloadItems: Math.min(wide.maxPayloadItems, narrow.maxPayloadItems),
    maxHeldBytes: Math.min(wide.maxHeldBytes, narrow.maxHeldBytes),
    note: ', before the hello was accepted',
  };
}

/** Options of an accepted peer, checked and with defaults. */
export interface AcceptorOptions extends ResolvedOptions {
  /** `null` if no hello is expected. */
  readonly hello: ExpectedHello | null;
}

/** Makes the core of one accepted peer. */
export function acceptorCore(options: AcceptorOptions): PeerCore {
  const { hello } = options;
  if (hello === null) {
    const core = new PeerCore(options);
    core.incoming.refusesHellos = true;
    return core;
  }
  const limits = narrowed(options.limits, hello.limits);
  const core = new PeerCore({ ...options, limits });
  core.incoming.gate = new HelloAcceptor(core, hello, limits, options.limits);
  return core;
}
