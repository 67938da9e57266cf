import { describe, expect, it } from '@jest/globals';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { JsMsg, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { firstValueFrom, Subject } from 'rxjs';
import { natsBus, natsLog } from '../../src/nats.js';
import type { NatsConnection, NatsLogOptions } from '../../src/nats.js';
import { linkOf, NatsDown } from '../../src/nats/nats-connection.js';
import { cursorBy, cursorOf, sequenceOf } from '../../src/nats/nats-cursor.js';
import { explain } from '../../src/nats/nats-error.js';
import { keptAll } from '../../src/nats/nats-quiet.js';
import { promisesSettled, virtualTime } from '../../src/testing/virtual-time.js';
import { BrokerError } from '../../src/topics.js';
import type { BrokerErrorCode } from '../../src/topics.js';
import { turn, until } from '../support/socket/leaks.js';
import { FakeNats } from './fake-nats.js';

describe('a bus over NATS', () => {
  it('A channel is one token of a subject, with one subscription for all subscribers', async () => {
    const server = new FakeNats();
    const bus = natsBus(server.connect());
    const received: unknown[] = [];
    const subscriptions = [1, 2].map(() => bus.on('user:a.*>').subscribe((value) => received.push(value)));
    await bus.send('user:a.*>', { n: 1 });
    expect(server.published).toEqual(['rxmux.user%3Aa%2e%2a%3E {"n":1}']);
    expect([received, server.subjects.length]).toEqual([[{ n: 1 }, { n: 1 }], 1]);
    for (const subscription of subscriptions) subscription.unsubscribe();
    await turn();
    expect(server.subjects).toEqual([]);
  });

  it('A channel with half a surrogate pair is a token too, and no other one', async () => {
    const server = new FakeNats();
    const bus = natsBus(server.connect());
    const subscriptions = ['\u{1f600}\ud800', '\ud801', ''].map((channel) => bus.on(channel).subscribe());
    await bus.send('\ud801', 1);
    expect(server.subjects).toEqual(['rxmux.%F0%9F%98%80%d800', 'rxmux.%d801', 'rxmux.%']);
    expect(server.published).toEqual(['rxmux.%d801 1']);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it('A refused subject is an error of its channel, and so is the end of the connection', async () => {
    const server = new FakeNats();
    const errors: unknown[] = [];
    const bus = natsBus(server.connect(), 'app');
    bus.on('a').subscribe({ error: (error: unknown) => errors.push(error) });
    await until('a subscription', () => server.subjects.length === 1);
    server.refuse('app.a', Object.assign(new Error('no'), { name: 'PermissionViolationError' }));
    bus.on('b').subscribe({ error: (error: unknown) => errors.push(error) });
    server.close();
    await until('two errors', () => errors.length === 2);
    expect(errors).toMatchObject([{ code: 'BROKER_FORBIDDEN' }, { code: 'BROKER_CLOSED' }]);
  });

  it('A channel of a closed connection errors with BROKER_CLOSED', () => {
    const subscribe = (): never => {
      throw new errors.ClosedConnectionError();
    };
    const nc = { ...new FakeNats().connect(), isClosed: () => true, subscribe } as NatsConnection;
    const thrown: unknown[] = [];
    natsBus(nc)
      .on('a')
      .subscribe({ error: (error: unknown) => thrown.push(error) });
    expect(thrown).toEqual([expect.any(BrokerError)]);
    expect(thrown).toMatchObject([{ code: 'BROKER_CLOSED', message: "channel 'a': the connection to NATS is closed" }]);
  });

  it('A value that NATS never answers is refused in the end', async () => {
    const nc = { ...new FakeNats().connect(), flush: () => new Promise<void>(() => undefined) };
    const clock = virtualTime();
    let failure: unknown = null;
    natsBus(nc)
      .send('a', 1)
      .catch((error: unknown) => (failure = error));
    await clock.advance(60_000);
    clock.restore();
    expect(failure).toMatchObject({ code: 'BROKER_AWAY', message: "channel 'a': NATS does not answer: Timeout has occurred" });
  });

  it('The longest subject that a channel and a prefix make fits into a line of the server', async () => {
    const server = new FakeNats();
    await natsBus(server.connect(), 'p'.repeat(256)).send('*'.repeat(1_024), 1);
    const [subject = ''] = server.published[0]?.split(' ') ?? [];
    expect(`PUB ${subject} 1048576`.length).toBeLessThan(4_096);
  });

  it.each([
    ['a b', "prefix: expected a name without wildcards, spaces and empty tokens, got 'a b'"],
    ['a..b', "prefix: expected a name without wildcards, spaces and empty tokens, got 'a..b'"],
    ['', "prefix: expected a name without wildcards, spaces and empty tokens, got ''"],
    ['p'.repeat(257), 'prefix: expected at most 256 bytes for a subject, got 257'],
  ])('A bus refuses the prefix %p', (prefix, message) => {
    expect(() => natsBus(new FakeNats().connect(), prefix)).toThrow(new TypeError(message));
  });

  it.each([undefined, Promise.resolve(), {}])('A bus and a log refuse %p for a connection', (nc) => {
    const message = 'nc: expected a connection of @nats-io/transport-node, got';
    expect(() => natsBus(nc as unknown as NatsConnection)).toThrow(message);
    expect(() => natsLog(nc as unknown as NatsConnection, { stream: 'T', subject: 'a' })).toThrow(message);
  });
});

const NO_SUBJECT = 'subject: expected a name without wildcards, spaces and empty tokens, got';

describe('a log over NATS', () => {
  it.each<readonly [unknown, string]>([
    [{ stream: 'T', subject: 'topics.*' }, `${NO_SUBJECT} 'topics.*'`],
    [{ stream: 'T', subject: 'topics..a' }, `${NO_SUBJECT} 'topics..a'`],
    [{ stream: 'T', subject: '.a' }, `${NO_SUBJECT} '.a'`],
    [{ stream: 'T', subject: 'a.' }, `${NO_SUBJECT} 'a.'`],
    [{ stream: 'T', subject: 'a.\ud800' }, `${NO_SUBJECT} 'a.\ud800'`],
    [{ stream: 'T', subject: '\u00e4'.repeat(513) }, 'subject: expected at most 1024 bytes for a subject, got 1026'],
    [{ stream: 'T', subject: ' '.repeat(1_025) }, 'subject: expected at most 1024 bytes for a subject, got 1025'],
    [{ stream: '', subject: 'topics.a' }, "stream: expected a name without dots, wildcards and spaces, got ''"],
    [{ stream: 'a.b', subject: 'topics.a' }, "stream: expected a name without dots, wildcards and spaces, got 'a.b'"],
    [{ stream: 'T'.repeat(256), subject: 'topics.a' }, 'stream: expected at most 255 bytes for a name, got 256'],
    [undefined, 'options: expected an object, got undefined'],
  ])('The options %p are refused: %s', (options, message) => {
    expect(() => natsLog(new FakeNats().connect(), options as NatsLogOptions)).toThrow(new TypeError(message));
  });
});

/** A connection whose status changes are the test's. */
function connection() {
  const status$ = new Subject<{ readonly type: string }>();
  const queue: { readonly type: string }[] = [];
  let wake = (): void => undefined;
  status$.subscribe((status) => {
    queue.push(status);
    wake();
  });
  async function* status() {
    for (;;) {
      const next = queue.shift();
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield next;
    }
  }
  return { nc: { status } as unknown as NatsConnection, become: (type: string) => status$.next({ type }) };
}

describe('the link of a NATS connection', () => {
  it('Topics of one connection share its link', () => {
    const { nc } = connection();
    expect(linkOf(nc)).toBe(linkOf(nc));
    expect(linkOf(connection().nc)).not.toBe(linkOf(nc));
  });

  it.each(['disconnect', 'close'])('A question under way fails at a %s, and later ones fail at once', async (type) => {
    const { nc, become } = connection();
    const link = linkOf(nc);
    const asked = link.ask(() => new Promise(() => undefined));
    become(type);
    await expect(asked).rejects.toBeInstanceOf(NatsDown);
    await expect(link.ask(() => Promise.resolve(1))).rejects.toBeInstanceOf(NatsDown);
  });

  it('Questions are asked again after a reconnect', async () => {
    const { nc, become } = connection();
    const link = linkOf(nc);
    const lost = firstValueFrom(link.lost$);
    become('disconnect');
    await lost;
    become('reconnect');
    await promisesSettled();
    expect(await link.ask(() => Promise.resolve(1))).toBe(1);
  });
});

describe('cursors of NATS', () => {
  it('A cursor has the sequence, and a fingerprint of the random id of the message', () => {
    const stored = { seq: 7, time: new Date(1_000) };
    expect(cursorOf(stored, 'rxmux-a')).toBe(cursorBy(7, 'rxmux-a'));
    expect(cursorOf(stored, 'rxmux-a')).not.toBe(cursorOf(stored, 'rxmux-b'));
    expect(sequenceOf(cursorOf(stored, 'rxmux-a'))).toBe(7);
  });

  it.each([undefined, '', 'a', 'key:0 topics.a rxmux-a'])('A message with the id %p has the fingerprint of its time', (id) => {
    expect(cursorOf({ seq: 7, time: new Date(1_000) }, id)).toBe(cursorBy(7, '1000'));
  });

  it.each(['', '7', '7:', ':a', 'x:a', '-7:a', '1234567890123456:a', 7, null, { toString: () => '' }])('%p is no cursor', (value) => {
    expect(sequenceOf(value)).toBeNaN();
  });
});

const UNLIMITED: Partial<StreamConfig> = { max_age: 0, max_bytes: -1, max_msgs: -1, max_msgs_per_subject: -1 };
const MINUTE_NS = 60_000_000_000;

function kept(limits: Partial<StreamConfig>, pending: number, oldestBeforeMs: number): boolean {
  const time = new Date('2026-01-01T00:01:00Z');
  const info = {
    config: { ...UNLIMITED, ...limits },
    state: { first_ts: new Date(time.getTime() - oldestBeforeMs).toISOString() },
  };
  return keptAll(info as StreamInfo, { info: { pending }, time } as JsMsg);
}

describe('a quiet subject of NATS', () => {
  it.each<readonly [Partial<StreamConfig>, number, number, boolean]>([
    [{}, 0, 0, true],
    [{ max_age: MINUTE_NS }, 0, 0, true],
    [{ max_age: MINUTE_NS / 10 }, 0, 20_000, false],
    [{ max_msgs: 10 }, 0, 20_000, true],
    [{ max_msgs: 10 }, 0, 9_000, false],
    [{ max_bytes: 10 }, 0, 20_000, true],
    [{ max_bytes: 10 }, 0, 9_000, false],
    [{ max_msgs_per_subject: 10 }, 8, 0, true],
    [{ max_msgs_per_subject: 10 }, 9, 0, false],
    [{ max_msgs_per_subject: 1 }, 0, 0, false],
  ])(
    'With %j, %i waiting messages and an oldest one %i ms before, a quiet subject has kept all: %s',
    (limits, pending, before, expected) => {
      expect(kept(limits, pending, before)).toBe(expected);
    },
  );
});

describe('errors of NATS', () => {
  const connection = (jetstream: boolean, isClosed = false): NatsConnection =>
    ({ info: { jetstream }, isClosed: () => isClosed }) as unknown as NatsConnection;
  const answer = (err_code: number, code = 400, description = 'text'): Error => new JetStreamApiError({ err_code, code, description });
  const notEnabled = Object.assign(new Error('jetstream is not enabled'), { name: 'JetStreamNotEnabled' });
  const forbidden = new errors.PermissionViolationError('no', 'publish', 'topics.a');

  it.each<readonly [BrokerErrorCode, string, unknown]>([
    ['BROKER_MISSING', 'the stream does not exist', answer(10_059, 404)],
    ['BROKER_MISSING', 'the stream has no such subject', answer(10_060)],
    ['BROKER_AWAY', 'NATS does not answer: text', answer(10_014, 404)],
    ['BROKER_FULL', 'NATS has no room: maximum bytes exceeded', answer(10_077, 503, 'maximum bytes exceeded')],
    [
      'BROKER_FULL',
      'NATS has no room: insufficient storage resources available',
      answer(10_047, 500, 'insufficient storage resources available'),
    ],
    [
      'BROKER_AWAY',
      'NATS does not answer: JetStream system temporarily unavailable',
      answer(10_008, 503, 'JetStream system temporarily unavailable'),
    ],
    ['BROKER_REFUSED', 'NATS never takes this message: message size exceeds maximum', answer(10_054, 400, 'message size exceeds maximum')],
    [
      'BROKER_REFUSED',
      'NATS never takes this message: invalid operation on sealed stream',
      answer(10_109, 400, 'invalid operation on sealed stream'),
    ],
    [
      'BROKER_REFUSED',
      "NATS never takes this message: 'payload' max_payload size exceeded",
      errors.InvalidArgumentError.format('payload', 'max_payload size exceeded'),
    ],
    ['BROKER_FAILED', 'NATS answers: maximum consumers limit reached', answer(10_026, 400, 'maximum consumers limit reached')],
    ['BROKER_FORBIDDEN', 'NATS forbids it: no', forbidden],
    ['BROKER_FORBIDDEN', 'NATS forbids it: request failed', new errors.RequestError('request failed', { cause: forbidden })],
    ['BROKER_AWAY', 'no stream of NATS answers: it starts, or has no such subject', notEnabled],
    ['BROKER_AWAY', 'no stream of NATS answers: it starts, or has no such subject', new errors.NoRespondersError('topics.a')],
    ['BROKER_AWAY', 'NATS does not answer: timeout', new errors.TimeoutError()],
    ['BROKER_FAILED', 'expected a header', new TypeError('expected a header')],
    ['BROKER_AWAY', 'NATS does not answer: a text', 'a text'],
    ['BROKER_AWAY', 'NATS does not answer: ECONNREFUSED', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })],
    ['BROKER_FAILED', 'TypeError', new TypeError()],
    ['BROKER_FAILED', 'NATS answers: 10026', answer(10_026, 400, '')],
  ])('An error of the client becomes %s: %s', (code, text, error) => {
    const explained = explain(error, 'topic', connection(true));
    expect([explained.code, explained.message, explained.cause]).toEqual([code, `topic: ${text}`, error]);
  });

  it('A server without JetStream becomes BROKER_MISSING', () => {
    expect(explain(notEnabled, 'topic', connection(false)).code).toBe('BROKER_MISSING');
  });

  it('A closed connection becomes BROKER_CLOSED, whatever the error', () => {
    const error = new BrokerError('BROKER_AWAY', 'lost');
    expect(explain(error, 'topic', connection(true, true)).code).toBe('BROKER_CLOSED');
    expect(explain(error, 'topic', connection(true))).toBe(error);
  });
});
