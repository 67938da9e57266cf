import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { catchError, EMPTY, from, lastValueFrom, Subject, take, takeUntil, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { natsBus } from '../../src/nats.js';
import { redisBus } from '../../src/redis.js';
import { createPair } from '../../src/testing.js';
import { virtualTime } from '../../src/testing/virtual-time.js';
import { BrokerError, catchUp, CursorLost, memoryBus, presence, room, usersOf } from '../../src/topics.js';
import type { BrokerErrorCode, Bus, Message } from '../../src/topics.js';
import { BrokerLog } from '../../src/topics/broker-log.js';
import type { Broker } from '../../src/topics/broker-log.js';
import { LogReader } from '../../src/topics/log-reader.js';
import { beginningAt } from '../../src/topics/log-source.js';
import { FakeNats } from '../nats/fake-nats.js';
import { FakeServer } from '../redis/fake-redis.js';
import fc from '../support/fast-check.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';
import { ScriptedBroker } from './broker.js';

/** A broker whose messages are its numbers from 1 on. A test decides when it fails. */
class NumberBroker implements Broker<number> {
  readonly name = 'topic numbers';
  last = 0;
  first = 1;
  /** The errors of the next questions. */
  readonly failures: Error[] = [];
  readers = 0;
  readonly #changed$ = new Subject<void>();

  newer(a: string, b: string): boolean {
    return Number(a) > Number(b);
  }

  explain(error: unknown): BrokerError {
    return error instanceof BrokerError ? error : new BrokerError('BROKER_AWAY', `${this.name}: ${String(error)}`);
  }

  head(): Promise<string> {
    return this.#asked(() => String(this.last));
  }

  publish(json: string): Promise<string> {
    return this.#asked(() => {
      this.last = JSON.parse(json) as number;
      this.#changed$.next();
      return String(this.last);
    });
  }

  async *read(after: string | null, toEnd: boolean, signal: AbortSignal): AsyncGenerator<Message<number, string>, void> {
    this.readers++;
    const wake = (): void => {
      this.#changed$.next();
    };
    signal.addEventListener('abort', wake);
    try {
      for (let next = after === null ? this.first : Number(after) + 1; !signal.aborted;) {
        await this.#asked(() => undefined);
        if (next < this.first) throw new CursorLost(String(this.last));
        if (next <= this.last) yield { cursor: String(next), value: next++ };
        else if (toEnd) return;
        else await new Promise<void>((resolve) => this.#changed$.pipe(take(1)).subscribe(() => resolve()));
      }
    } finally {
      this.readers--;
      signal.removeEventListener('abort', wake);
    }
  }

  /** Wakes the reader, which fails. */
  fail(code: BrokerErrorCode): void {
    this.failures.push(new BrokerError(code, `${this.name}: ${code}`));
    this.#changed$.next();
  }

  #asked<R>(answer: () => R): Promise<R> {
    const failure = this.failures.shift();
    return failure === undefined ? Promise.resolve(answer()) : Promise.reject(failure);
  }
}

function begin() {
  const broker = new NumberBroker();
  const log = new BrokerLog(broker);
  const received: unknown[] = [];
  const subscription = catchUp(log, null).subscribe({
    next: ({ value }) => received.push(value),
    error: (error: unknown) => received.push(error instanceof BrokerError ? error.code : error),
  });
  return { broker, log, received, subscription };
}

describe('a log over a broker', () => {
  const logs = collectLogs();

  it('One reader serves all subscribers, and ends with the last one', async () => {
    const { broker, log, received, subscription } = begin();
    const other = catchUp(log, null).subscribe();
    await until('a place', () => received.length === 1);
    await log.publish(1);
    await until('the message', () => received.length === 2);
    expect(broker.readers).toBe(1);
    subscription.unsubscribe();
    expect(broker.readers).toBe(1);
    other.unsubscribe();
    await until('no reader', () => broker.readers === 0);
  });

  it('A subscriber waits while the broker is away, and misses nothing', async () => {
    const { broker, log, received, subscription } = begin();
    await until('a place', () => received.length === 1);
    await log.publish(1);
    await until('the message', () => received.length === 2);
    broker.fail('BROKER_AWAY');
    broker.fail('BROKER_AWAY');
    broker.last = 3;
    await until('the messages', () => received.length === 4);
    expect(received).toEqual([undefined, 1, 2, 3]);
    expect(logs.warnings).toEqual(['rxmux: topic numbers: BROKER_AWAY']);
    subscription.unsubscribe();
  });

  it('The log shows each outage of a topic without messages, and one line for an outage that lasts', async () => {
    const clock = virtualTime();
    const { broker, subscription } = begin();
    await clock.advance();
    for (const failures of [200, 1]) {
      for (let n = 0; n < failures; n++) broker.fail('BROKER_AWAY');
      await clock.advance(120_000);
    }
    subscription.unsubscribe();
    clock.restore();
    expect(logs.warnings).toEqual(['rxmux: topic numbers: BROKER_AWAY', 'rxmux: topic numbers: BROKER_AWAY']);
  });

  it('A subscriber that comes while the broker is away gets its place later', async () => {
    const broker = new NumberBroker();
    broker.failures.push(new Error('down'), new Error('down'));
    expect(await lastValueFrom(catchUp(new BrokerLog(broker), null).pipe(take(1)))).toEqual({ cursor: '0' });
  });

  it('A subscriber that leaves while the broker is away asks no more', async () => {
    const clock = virtualTime();
    const broker = new NumberBroker();
    const asked = jest.spyOn(broker, 'head').mockRejectedValue(new Error('down'));
    const subscription = catchUp(new BrokerLog(broker), null).subscribe();
    await clock.advance(1_000);
    const before = asked.mock.calls.length;
    subscription.unsubscribe();
    await clock.advance(300);
    const after = asked.mock.calls.length;
    await clock.advance(60_000);
    clock.restore();
    expect(before).toBeGreaterThan(2);
    expect(asked).toHaveBeenCalledTimes(after);
  });

  it('A question for the end, or for the history, outlives the reader that it waits for', async () => {
    const broker = new NumberBroker();
    broker.last = 2;
    broker.failures.push(new Error('down'));
    const log = new BrokerLog(broker);
    const subscription = log.live$.subscribe();
    const end = lastValueFrom(log.head());
    const history = lastValueFrom(from(log.history('0')).pipe(toArray()));
    subscription.unsubscribe();
    expect(await Promise.all([end, history])).toEqual(['2', [1, 2].map((value) => ({ cursor: String(value), value }))]);
  });

  it.each<BrokerErrorCode>(['BROKER_MISSING', 'BROKER_FORBIDDEN', 'BROKER_FULL', 'BROKER_CLOSED', 'BROKER_FAILED'])(
    'A subscriber errors with %s',
    async (code) => {
      const { broker, received } = begin();
      await until('a place', () => received.length === 1);
      broker.fail(code);
      await until('the error', () => received.length === 2);
      expect(received).toEqual([undefined, code]);
      expect(broker.readers).toBe(0);
    },
  );

  it('The history goes on behind its last message after a failure', async () => {
    const broker = new NumberBroker();
    broker.last = 3;
    const read = broker.read.bind(broker);
    jest.spyOn(broker, 'read').mockImplementationOnce(async function* (after, toEnd, signal) {
      for await (const message of read(after, toEnd, signal)) {
        yield message;
        throw new Error('down');
      }
    });
    const values: number[] = [];
    for await (const { value } of new BrokerLog(broker).history('0')) values.push(value);
    expect(values).toEqual([1, 2, 3]);
  });

  it('A history without a place has every message that is kept', async () => {
    const broker = new NumberBroker();
    broker.last = 4;
    broker.first = 3;
    const values: number[] = [];
    for await (const { value } of new BrokerLog(broker).history(null)) values.push(value);
    expect(values).toEqual([3, 4]);
  });

  it('The last message of the reader is a place, also where the broker no longer keeps it', async () => {
    const { broker, log, received, subscription } = begin();
    await until('a place', () => received.length === 1);
    const place = await log.publish(1);
    await until('the message', () => received.length === 2);
    broker.first = 5;
    const messages = log.history(place)[Symbol.asyncIterator]();
    expect(await messages.next()).toEqual({ done: true, value: undefined });
    await expect(log.history('0')[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(CursorLost);
    subscription.unsubscribe();
    await until('no reader', () => broker.readers === 0);
    await expect(log.history(place)[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(CursorLost);
  });

  it('A history that is left while the broker is away asks no more', async () => {
    const broker = new NumberBroker();
    const read = jest.spyOn(broker, 'read').mockImplementation(() => {
      throw new Error('down');
    });
    const messages = new BrokerLog(broker).history('0')[Symbol.asyncIterator]();
    const next = messages.next();
    await until('a try', () => read.mock.calls.length === 1);
    const left = messages.return?.();
    await Promise.allSettled([next, left]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('A history that is left ends its reader', async () => {
    const broker = new NumberBroker();
    broker.last = 3;
    for await (const { value } of new BrokerLog(broker).history('0')) if (value === 2) break;
    expect(broker.readers).toBe(0);
  });

  it('A lost history reaches the subscriber', async () => {
    const broker = new NumberBroker();
    broker.last = 3;
    broker.first = 3;
    await expect(lastValueFrom(catchUp(new BrokerLog(broker), '1').pipe(toArray()))).rejects.toMatchObject({ resetTo: '3' });
  });

  it('A failed publication rejects at once with a code', async () => {
    const broker = new NumberBroker();
    broker.failures.push(new Error('down'));
    await expect(new BrokerLog(broker).publish(1)).rejects.toMatchObject({ code: 'BROKER_AWAY', message: 'topic numbers: Error: down' });
  });

  it.each<unknown>(['', ' a', 'a ', 'a\nb', 7, null])('A log refuses the key %j, which not every broker carries', async (key) => {
    const log = new BrokerLog<number>(new NumberBroker());
    await expect(log.publish(1, { key: key as string })).rejects.toThrow('key: expected a text of one line');
    expect(await log.publish(2, { key: 'a b' })).toBe('2');
  });

  it.each([undefined, new Uint8Array(1), new Map()])('A log refuses to publish %p, which JSON does not carry', async (value) => {
    const log = new BrokerLog<unknown>(new NumberBroker());
    await expect(log.publish(value)).rejects.toBeInstanceOf(TypeError);
  });
});

describe('buses', () => {
  const BUSES: readonly (readonly [name: string, make: () => Bus])[] = [
    ['memory', memoryBus],
    ['NATS', () => natsBus(new FakeNats().connect())],
    ['Redis', () => redisBus(new FakeServer().connect())],
  ];

  const ended$ = new Subject<void>();
  afterEach(() => {
    ended$.next();
  });

  /** The values of an Observable until the test ends. */
  const during = <T>(values$: Observable<T>): Observable<T> => values$.pipe(takeUntil(ended$));

  describe.each(BUSES)('a bus over %s', (_, make) => {
    const logs = collectLogs();

    /** A bus whose other channel keeps the connection open, and what its channels emit. */
    const begin = () => {
      const bus = make();
      const heard: unknown[] = [];
      during(bus.on('other')).subscribe();
      return { bus, heard, listen: (channel: string) => during(bus.on(channel)).subscribe((value) => heard.push(value)) };
    };

    it('A channel that is left and opened again within one round trip is heard', async () => {
      const { bus, heard, listen } = begin();
      const left = listen('a');
      await bus.send('a', 1);
      left.unsubscribe();
      listen('a');
      await bus.send('a', 2);
      await bus.send('a', 3);
      expect(heard).toEqual([1, 2, 3]);
    });

    it('A kept Observable of a channel shares it with a fresh one, however they come and go', async () => {
      const { bus, heard } = begin();
      const kept$ = bus.on('a');
      const hear = (name: string) => (value: unknown) => heard.push(`${name} ${String(value)}`);
      kept$.subscribe(hear('first')).unsubscribe();
      const fresh = during(bus.on('a')).subscribe(hear('fresh'));
      const kept = during(kept$).subscribe(hear('kept'));
      await bus.send('a', 1);
      fresh.unsubscribe();
      await bus.send('a', 2);
      during(bus.on('a')).subscribe(hear('last'));
      kept.unsubscribe();
      await bus.send('a', 3);
      await bus.send('a', 4);
      expect(heard).toEqual(['fresh 1', 'kept 1', 'kept 2', 'last 3', 'last 4']);
    });

    it.each([
      ['\u20ac'.repeat(342), 'channel: expected at most 1024 bytes for the name, got 1026'],
      [undefined, 'channel: expected a text, got undefined'],
    ])('A bus refuses a channel that not every broker takes', async (channel, message) => {
      const bus = make();
      const error = new TypeError(message);
      expect(() => bus.on(channel as string)).toThrow(error);
      await expect(bus.send(channel as string, 1)).rejects.toThrow(error);
    });

    it('A channel of 1 024 bytes is heard', async () => {
      const { bus, heard, listen } = begin();
      const channel = '*'.repeat(1_024);
      listen(channel);
      await bus.send(channel, 1);
      expect(heard).toEqual([1]);
    });

    it('Users, rooms and presence of the same name do not meet', async () => {
      const bus = make();
      const { dialer, acceptor } = createPair();
      const notified: unknown[] = [];
      dialer.onStream((payload) => void notified.push(payload));
      const added = ['presence', 'x'].map((id) => usersOf(bus).add(id, acceptor));
      const members: string[][] = [];
      during(presence(bus).members$('lobby')).subscribe((all) => members.push([...all]));
      const names = ['x', 'user:x', 'room:x', 'presence', 'presence:presence'];
      const heard: unknown[] = [];
      for (const name of names)
        during(catchUp(room(bus, name), null)).subscribe(({ value }) => value !== undefined && heard.push([name, value]));
      const forged = { from: 'forger', version: 1, all: [['lobby', 'mallory']] };
      for (const name of names) await room(bus, name).publish(forged);
      await usersOf(bus).toUser('x').notify('hello');
      await until('a notification', () => notified.length > 0);
      await acceptor.ping();
      expect(heard).toEqual(names.map((name) => [name, forged]));
      for (const subscription of added) subscription.unsubscribe();
      expect([notified, members, logs.warnings]).toEqual([['hello'], [[]], []]);
    });
  });

  describe('the channels of a bus', () => {
    it('A subscriber that comes back at an error opens the channel once, also beside later ones', async () => {
      const server = new FakeNats();
      const bus = natsBus(server.connect());
      bus
        .on('a')
        .pipe(catchError(() => bus.on('a').pipe(catchError(() => EMPTY))))
        .subscribe();
      await turn();
      server.refuse('rxmux.a', Object.assign(new Error('no'), { name: 'PermissionViolationError' }));
      bus.on('a').subscribe();
      bus.on('a').subscribe();
      await turn();
      await turn();
      expect(server.subjects).toEqual(['rxmux.a']);
    });
  });

  describe('names', () => {
    const { acceptor } = createPair();
    const long = 'x'.repeat(1_001);
    const bus = memoryBus();

    it.each<[string, () => unknown, string]>([
      ['a user', () => usersOf(bus).add(long, acceptor), 'add: expected at most 1000 bytes for the id of a user, got 1001'],
      ['a recipient', () => usersOf(bus).toUser(long), 'toUser: expected at most 1000 bytes for the id of a user, got 1001'],
      ['a room', () => room(bus, long), 'room: expected at most 1000 bytes for a channel, got 1001'],
      ['a room of members', () => presence(bus).members$(long), 'members$: expected at most 1000 bytes for a room, got 1001'],
      ['a member', () => presence(bus).join('lobby', long, acceptor), 'join: expected at most 1000 bytes for a member, got 1001'],
      ['a channel of presence', () => presence(bus, { channel: long }), 'presence: expected at most 1000 bytes for the channel, got 1001'],
    ])('The name of %s is refused beyond 1 000 bytes', (_, act, message) => {
      expect(act).toThrow(new TypeError(message));
    });
  });
});

type Policy = 'history' | 'drop';

/** The messages that wait for a subscriber here, few enough so that few commands make one fall behind. */
const PLACES = 3;

/** A client that resumes after each cut, and checks each item that it receives. */
class Client {
  readonly received: number[] = [];
  losses = 0;
  #reader: LogReader<string, number> | null = null;
  #place: number | null = null;
  #asked = 0;

  constructor(
    private readonly broker: ScriptedBroker,
    private readonly beyond: Policy,
    private readonly from: 'end' | 'start' = 'end',
  ) {}

  get place(): number | null {
    return this.#place;
  }

  /** Pulls items, as a stream with room does. Subscribes first where a cut has ended the subscription. */
  pull(count: number): void {
    this.#reader ??= new LogReader(this.broker, this.#place, { places: PLACES, beyond: this.beyond }, beginningAt(this.from));
    const isIdle = this.#asked === 0;
    this.#asked += count;
    if (isIdle) this.#next(this.#reader);
  }

  cut(): void {
    const reader = this.#reader;
    this.#reader = null;
    this.#asked = 0;
    void reader?.return();
  }

  #next(reader: LogReader<string, number>): void {
    reader.pull({
      resolve: (result) => {
        if (this.#reader !== reader) return;
        if (result.done === true) throw new Error('expected a log without an end');
        this.#take(result.value.cursor, result.value.value);
        if (--this.#asked > 0) this.#next(reader);
      },
      reject: (error) => {
        this.#lose(error);
      },
    });
  }

  #take(cursor: number, value?: string): void {
    const place = this.#place;
    if (place === null && this.from === 'start') this.#checkStart(cursor, value);
    if (value === undefined) expect(place).toBeNull();
    else expect(value).toBe(`m${cursor}`);
    if (place !== null && this.beyond === 'history') expect(cursor).toBe(place + 1);
    if (place !== null) expect(cursor).toBeGreaterThan(place);
    this.#place = cursor;
    if (value !== undefined) this.received.push(cursor);
  }

  /** The first item is the oldest message that is kept, or the end where none is. */
  #checkStart(cursor: number, value: string | undefined): void {
    expect(value === undefined ? cursor + 1 : cursor).toBeLessThanOrEqual(this.broker.first);
  }

  #lose(error: unknown): void {
    if (!(error instanceof CursorLost)) throw error;
    expect((this.#place ?? Infinity) + 1).toBeLessThan(this.broker.first);
    this.losses++;
    this.#place = error.resetTo as number;
    this.cut();
  }
}

interface Command {
  readonly act: 'publish' | 'send' | 'sendAgain' | 'trim' | 'answer' | 'pull' | 'cut';
  readonly count: number;
}

function run({ act, count }: Command, broker: ScriptedBroker, client: Client): void {
  if (act === 'pull') client.pull(count);
  else if (act === 'cut') client.cut();
  else if (act === 'publish') for (let left = count; left > 0; left--) void broker.publish();
  else broker[act](count);
}

/** Sends and reads all that is left. */
function settle(broker: ScriptedBroker, client: Client): void {
  for (let round = 0; round < 50; round++) {
    client.pull(100);
    broker.send(100);
    broker.answer(100);
    if (client.place === broker.last) return;
  }
}

const commands = fc.array(
  fc.record({
    act: fc.constantFrom<Command['act']>('publish', 'publish', 'send', 'send', 'sendAgain', 'trim', 'answer', 'pull', 'pull', 'cut'),
    count: fc.integer({ min: 1, max: 5 }),
  }),
  { minLength: 1, maxLength: 80 },
);

describe('the seam of history and live messages', () => {
  it('A subscriber gets each message once and in order, through cuts, repeats, trims and slow reads', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const broker = new ScriptedBroker();
        const client = new Client(broker, 'history');
        client.pull(1);
        for (const command of script) run(command, broker, client);
        settle(broker, client);
        expect(client.place).toBe(broker.last);
      }),
      { seed: 40, numRuns: 500 },
    );
  });

  it('A subscriber that begins at the start gets every message that is kept, and each later one', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const broker = new ScriptedBroker();
        const client = new Client(broker, 'history', 'start');
        for (const command of script) run(command, broker, client);
        settle(broker, client);
        expect(client.place).toBe(broker.last);
      }),
      { seed: 42, numRuns: 300 },
    );
  });

  it('A subscriber that drops the oldest messages gets the others in order, and the last one', () => {
    fc.assert(
      fc.property(commands, (script) => {
        const broker = new ScriptedBroker();
        const client = new Client(broker, 'drop');
        client.pull(1);
        for (const command of script) run(command, broker, client);
        settle(broker, client);
        expect(client.place).toBe(broker.last);
      }),
      { seed: 41, numRuns: 300 },
    );
  });

  it('A subscriber that was cut leaves the log', () => {
    const broker = new ScriptedBroker();
    const client = new Client(broker, 'history');
    client.pull(1);
    expect(broker.listeners).toBe(1);
    client.cut();
    client.pull(1);
    expect(broker.isRead).toBe(true);
    client.cut();
    expect([broker.listeners, broker.isRead]).toEqual([0, false]);
  });
});
