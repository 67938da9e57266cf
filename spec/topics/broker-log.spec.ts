import { describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, Subject, take, toArray } from 'rxjs';
import { BrokerError, catchUp, CursorLost } from '../../src/topics.js';
import type { BrokerErrorCode, Message } from '../../src/topics.js';
import { BrokerLog } from '../../src/topics/broker-log.js';
import type { Broker } from '../../src/topics/broker-log.js';
import { virtualTime } from '../../src/testing/virtual-time.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';

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
    signal.addEventListener('abort', () => {
      this.#changed$.next();
    });
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
