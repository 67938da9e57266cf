import { filter, firstValueFrom, retry, take, takeUntil, timeout, TimeoutError, timer } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { JsonCodec } from '../codec/json.js';
import { log } from '../logger.js';
import { connect } from '../peer/connect.js';
import { reopenOnReconnect } from '../peer/operators/reopen.js';
import { respond } from '../peer/operators/respond.js';
import { Peer } from '../peer/peer.js';
import { observableFrom } from '../stream/input.js';
import { BrokerError, Outage } from '../topics/broker-error.js';
import { catchUp } from '../topics/catch-up.js';
import type { Log } from '../topics/log.js';
import { memoryBus, memoryLog } from '../topics/memory.js';
import type { PortLike } from '../transport/port.js';
import { portSocket } from '../transport/port.js';
import { errorText } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { ResetCode } from '../wire/codes.js';
import { isMuxError } from '../wire/errors.js';
import { acceptChildren, findParent } from './lines.js';
import type { Parent } from './lines.js';

/** A topic, and how many messages the first process that uses it keeps. */
export interface Topic {
  readonly topic: string;
  readonly keep: number | undefined;
}

/** A question to the holder of all logs. Values are texts of JSON, so that a process on the way need not read them. */
export type Asking =
  | (Topic & { readonly op: 'head' })
  | (Topic & { readonly op: 'publish'; readonly json: string; readonly key: string | undefined })
  | (Topic & { readonly op: 'read'; readonly after: string | null; readonly toEnd: boolean })
  | { readonly op: 'send'; readonly channel: string; readonly json: string }
  | { readonly op: 'hear'; readonly channel: string };

/** A parent that is silent this long is not there, in ms. */
const SILENCE_MS = 5_000;

const LIMITS = {
  // A text of JSON within JSON may be twice as long as a topic allows.
  maxPayloadBytes: Infinity,
  maxHeldBytes: Infinity,
  // Each topic and each channel has a stream. The processes of a program do not attack each other.
  maxStreams: Infinity,
  resets: { burst: Infinity, perSecond: 1 },
  provokedResets: { burst: Infinity, perSecond: 1 },
} as const;
const OPTIONS = { codec: new JsonCodec(), keepalive: false, limits: LIMITS } as const;

/**
 * The place of a process or thread in the tree of its program: it asks its parent, and answers its children. The process without a parent
 * holds the logs and the bus.
 */
class Hub {
  readonly #parent = findParent();
  #line: Peer | null = null;
  readonly #logs = new Map<string, Log<string>>();
  readonly #bus = memoryBus();
  readonly #outage = new Outage();

  constructor() {
    acceptChildren((port) => {
      this.#accept(port);
    });
  }

  /** The line to the parent, from the first question on; `null` where there is no parent. */
  #upstream(): Peer | null {
    return this.#parent === null ? null : (this.#line ??= lineTo(this.#parent));
  }

  /** Answers a question, here or at the parent. */
  ask(asking: Asking): ObservableInput<unknown> {
    return this.#upstream()?.open(asking, { end: true }) ?? this.#answer(asking);
  }

  /** Resolves with the one value of an answer. */
  one(asking: Asking): Promise<unknown> {
    return firstValueFrom(observableFrom(this.ask(asking)).pipe(timeout(SILENCE_MS)));
  }

  /** Emits the texts of a channel. Listens again where this process was too busy to take them, and its parent has reset the stream. */
  hear(channel: string, name: string): Observable<string> {
    const asking: Asking = { op: 'hear', channel };
    const line = this.#upstream();
    if (line === null) return this.#bus.on(channel);
    const texts$ = reopenOnReconnect(line, { open: () => line.open$<string>(asking, { retry: 'safe' }) });
    return texts$.pipe(retry({ delay: (error: unknown) => this.#outage.wait(this.explain(error, name)) }));
  }

  /** Explains an error of an answer about `name`. */
  explain(error: unknown, name: string): BrokerError {
    if (error instanceof BrokerError) return error;
    const parent = this.#parent?.name ?? 'this process';
    if (this.#parent?.isThere() === false) return new BrokerError('BROKER_CLOSED', `${name}: ${parent} has disconnected`, { cause: error });
    if (error instanceof TimeoutError) return new BrokerError('BROKER_AWAY', `${name}: ${silent(parent)}`, { cause: error });
    return new BrokerError(isAway(error) ? 'BROKER_AWAY' : 'BROKER_FAILED', `${name}: ${parent} answers: ${errorText(error)}`, {
      cause: error,
    });
  }

  #accept(port: PortLike): void {
    const child = new Peer(portSocket(port), { ...OPTIONS, isDialer: false });
    child.streams$.pipe(respond((asking: Asking) => this.ask(asking))).subscribe();
    void child.serve();
  }

  #answer(asking: Asking): ObservableInput<unknown> {
    switch (asking.op) {
      case 'head':
        return this.#logOf(asking).head();
      case 'publish':
        return this.#logOf(asking).publish(asking.json, { key: asking.key });
      case 'read':
        return asking.toEnd ? this.#logOf(asking).history(asking.after) : catchUp(this.#logOf(asking), asking.after);
      case 'send':
        return this.#bus.send(asking.channel, asking.json).then(() => null);
      case 'hear':
        return this.#bus.on(asking.channel);
    }
  }

  #logOf({ topic, keep }: Topic): Log<string> {
    return getOrMake(this.#logs, topic, () => memoryLog({ keep, maxItemBytes: Infinity }));
  }
}

/** Whether another try may help. */
function isAway(error: unknown): boolean {
  if (!isMuxError(error)) return false;
  const isOverflow = error.code === 'RESET' && error.resetCode === ResetCode.CANCEL;
  return isOverflow || error.code === 'CONNECTION_LOST' || error.code === 'REFUSED' || error.code === 'CONNECT';
}

/** A line to the parent while something is asked. */
function lineTo(parent: Parent): Peer {
  const line = connect('ws://localhost', {
    ...OPTIONS,
    socket: (_url, protocol) => parent.socket(protocol),
    lazy: true,
    idleCloseMs: SILENCE_MS,
    // The parent may begin to listen later.
    connectTimeoutMs: 1_000,
    reconnect: { minDelayMs: 50, maxDelayMs: 1_000, maxAttempts: Infinity, shouldRetry: () => parent.isThere() },
  });
  const opened$ = line.status$.pipe(filter(({ state }) => state === 'open'));
  timer(SILENCE_MS)
    .pipe(takeUntil(opened$.pipe(take(1))))
    .subscribe(() => {
      log('warn', silent(parent.name));
    });
  return line;
}

function silent(parent: string): string {
  return `${parent} does not answer: call ipcLog or ipcBus there too, before it makes workers. A process manager's own primary never answers`;
}

/** The CommonJS and the ES form of this module share one hub. */
const KEY = Symbol.for('rxmux/ipc');
const shared = globalThis as { [KEY]?: Hub };

/** Returns the hub of this process or thread, which begins to listen. */
export function hub(): Hub {
  return (shared[KEY] ??= new Hub());
}
