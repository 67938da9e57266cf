import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JetStreamPublishOptions, JsMsg, MsgRequest } from '@nats-io/jetstream';
import type { NextMsgRequest, PubAck, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import { BrokerError } from '../topics/broker-error.js';
import type { Broker } from '../topics/broker-log.js';
import { CursorLost, newEpoch } from '../topics/cursor.js';
import { fromJson } from '../topics/json-value.js';
import type { Message, PublishOptions } from '../topics/log.js';
import { linkOf } from './nats-connection.js';
import type { NatsConnection, NatsLink } from './nats-connection.js';
import { cursorBy, cursorOf, OWN_ID, sequenceOf } from './nats-cursor.js';
import { explain } from './nats-error.js';
import { heartbeats, keptAll } from './nats-quiet.js';

const MSG_ID = 'Nats-Msg-Id';
/** Begins the id of the first message of a subject, which has no value and no bytes. */
const START = `${OWN_ID}start-`;
const WRONG_LAST_SEQUENCE = 10_071;
const CONSUMER = {
  deliver_policy: DeliverPolicy.StartSequence,
  ack_policy: AckPolicy.None,
  /** The server removes a consumer that is not asked for messages, after this time. */
  inactive_threshold: 30_000_000_000,
  mem_storage: true,
} as const;
const CONSUME = { max_messages: 100, expires: 5_000, idle_heartbeat: 1_000, abort_on_missing_resource: true } as const;

/** A subject of a JetStream stream, read by ephemeral pull consumers. */
export class NatsBroker<T> implements Broker<T> {
  readonly name: string;
  readonly #js: JetStreamClient;
  readonly #link: NatsLink;
  #made: Promise<JetStreamManager> | null = null;

  constructor(
    private readonly nc: NatsConnection,
    private readonly stream: string,
    private readonly subject: string,
  ) {
    this.name = `topic '${subject}' of stream '${stream}'`;
    this.#link = linkOf(nc);
    this.#js = jetstream(nc);
  }

  newer(a: string, b: string): boolean {
    return sequenceOf(a) > sequenceOf(b);
  }

  explain(error: unknown): BrokerError {
    return explain(error, this.name, this.nc);
  }

  async head(): Promise<string> {
    for (;;) {
      const last = await this.#stored({ last_by_subj: this.subject });
      if (last !== null) return storedCursor(last);
      await this.#begin();
    }
  }

  async publish(json: string, { key }: PublishOptions): Promise<string> {
    if (key !== undefined) return this.#publishOnce(json, key);
    const msgID = OWN_ID + newEpoch();
    const { seq } = await this.#publish(json, { msgID });
    return cursorBy(seq, msgID);
  }

  /**
   * Publishes a message with a key. Its cursor has its time, which only the stream knows. The stream remembers an id longer than a message
   * that was removed, so then the next id names the removed one: two publishers still write one message.
   */
  async #publishOnce(json: string, key: string): Promise<string> {
    for (let removed = 0; ;) {
      const msgID = this.#keyId(key, removed);
      const { seq, duplicate } = await this.#publish(json, { msgID });
      const stored = await this.#stored({ seq });
      if (stored !== null) return storedCursor(stored);
      if (!duplicate) return cursorBy(seq, msgID);
      removed = seq;
    }
  }

  async *read(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<T, string>, void> {
    if (after !== null) {
      if (toEnd && after === (await this.head())) return;
      await this.#checkKept(after);
    }
    if (!toEnd) await this.#checkKeepsEnough();
    const { consumers } = await this.#manager();
    if (signal.aborted) return;
    const config = { ...CONSUMER, filter_subject: this.subject, opt_start_seq: after === null ? 1 : sequenceOf(after) + 1 };
    const { name, num_pending } = await this.#link.ask(() => consumers.add(this.stream, config));
    try {
      if (toEnd && num_pending === 0) return;
      const consumer = await this.#link.ask(() => this.#js.consumers.get(this.stream, name));
      yield* this.#consume(await consumer.consume(CONSUME), after, toEnd, signal);
    } finally {
      consumers.delete(this.stream, name).catch(() => undefined);
    }
  }

  async *#consume(
    messages: ConsumerMessages,
    after: string | null,
    toEnd: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<Message<T, string>, void> {
    const stop = (): void => void messages.close();
    // The subscriber may have left while the consumer was made.
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    // The server may have removed the consumer meanwhile, so another one reads on.
    const lost = this.#link.lost$.subscribe(stop);
    try {
      yield* this.#take(messages, after, toEnd, signal);
    } finally {
      lost.unsubscribe();
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /**
   * The stream drops the oldest messages of a subject first. So nothing between two messages is gone if their sequences are neighbours, or
   * if the first one is still kept now. That holds for each message that has arrived by now. Without a place, the oldest message that is
   * kept now is the first one. After a quiet time the last message may have expired, although none is missing.
   */
  async *#take(
    messages: ConsumerMessages,
    after: string | null,
    toEnd: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<Message<T, string>, void> {
    let place = after;
    let first = 0;
    let isCaughtUp = false;
    const hadHeartbeats = heartbeats(messages);
    let taken = 0;
    let whole = 0;
    for await (const message of messages) {
      taken++;
      const wasQuiet = isCaughtUp && hadHeartbeats();
      const { deliverySequence, pending } = message.info;
      if (deliverySequence !== taken) throw this.#away('a message was lost on its way');
      if (taken > whole && message.seq !== sequenceOf(place) + 1) {
        const arrived = messages.getReceived();
        if (place === null) first = await this.#oldest();
        const isAlone = place !== null && (await this.#checkBetween(place, wasQuiet ? message : null));
        whole = isAlone ? taken : arrived;
      }
      isCaughtUp = pending === 0;
      if (message.seq >= first) {
        place = cursorOf(message, message.headers?.get(MSG_ID));
        const value = this.#valueOf(message);
        if (value !== undefined) yield { cursor: place, value };
      }
      if (toEnd && pending === 0) return;
    }
    if (!signal.aborted) throw this.#away('the connection to NATS is lost');
  }

  /** The id of a key. Ids count for the whole stream, so this one holds the subject, in which no space can be. */
  #keyId(key: string, removed: number): string {
    return `key:${removed} ${this.subject} ${key}`;
  }

  /**
   * @throws BrokerError for a stream of several subjects that keeps one message of each: a new message displaces the one before, and the
   *   messages of other subjects hide whether there was another between
   */
  async #checkKeepsEnough(): Promise<void> {
    const { config } = await this.#info();
    const isAlone = config.subjects?.length === 1 && config.subjects[0] === this.subject;
    if (config.max_msgs_per_subject !== 1 || isAlone) return;
    const text = 'expected a stream that keeps at least 2 messages of each of its subjects (max_msgs_per_subject), got 1';
    throw new BrokerError('BROKER_FAILED', `${this.name}: ${text}`);
  }

  /** The sequence of the oldest message that is kept; past every message where none is. */
  async #oldest(): Promise<number> {
    return (await this.#stored({ seq: 1, next_by_subj: this.subject }))?.seq ?? Infinity;
  }

  /** Writes the first message. Where another process has written one, its own fails. */
  async #begin(): Promise<void> {
    await this.#publish('', { msgID: START + newEpoch(), expect: { lastSubjectSequence: 0 } }).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === WRONG_LAST_SEQUENCE)) throw error;
    });
  }

  /** Another stream that has the subject refuses the message: no follower of this one would hear it. */
  #publish(text: string, options: Partial<JetStreamPublishOptions>): Promise<PubAck> {
    const expect = { ...options.expect, streamName: this.stream };
    return this.#link.ask(() => this.#js.publish(this.subject, text, { ...options, expect }));
  }

  async #checkKept(place: string): Promise<void> {
    if (!this.#isAt(place, await this.#storedAt(place))) throw new CursorLost(await this.head());
  }

  /**
   * Checks that nothing between a place and the message that has come next is gone. Returns whether that message alone shows it.
   *
   * @param next the message, if a quiet time was before it
   */
  async #checkBetween(place: string, next: JsMsg | null): Promise<boolean> {
    const stored = await this.#storedAt(place);
    if (this.#isAt(place, stored)) return false;
    if (stored === null && next !== null && keptAll(await this.#info(), next)) return true;
    throw new CursorLost(await this.head());
  }

  async #storedAt(place: string): Promise<StoredMsg | null> {
    const seq = sequenceOf(place);
    return seq > 0 ? this.#stored({ seq }) : null;
  }

  async #stored(query: MsgRequest | Required<NextMsgRequest>): Promise<StoredMsg | null> {
    const { streams } = await this.#manager();
    return this.#link.ask(() => streams.getMessage(this.stream, query));
  }

  #isAt(place: string, stored: StoredMsg | null): boolean {
    return stored?.subject === this.subject && storedCursor(stored) === place;
  }

  async #info(): Promise<StreamInfo> {
    const { streams } = await this.#manager();
    return this.#link.ask(() => streams.info(this.stream));
  }

  #valueOf(message: JsMsg): T | undefined {
    if (message.data.length === 0 && message.headers?.get(MSG_ID).startsWith(START) === true) return undefined;
    return fromJson(message.string(), `message ${message.seq} of ${this.name}`, this) as T | undefined;
  }

  #away(text: string): BrokerError {
    return new BrokerError('BROKER_AWAY', `${this.name}: ${text}`);
  }

  #manager(): Promise<JetStreamManager> {
    return (this.#made ??= jetstreamManager(this.nc, { checkAPI: false }));
  }
}

function storedCursor(stored: StoredMsg): string {
  return cursorOf(stored, stored.header?.get(MSG_ID));
}
