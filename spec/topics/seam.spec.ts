import { describe, expect, it } from '@jest/globals';
import { CursorLost } from '../../src/topics.js';
import { beginningAt } from '../../src/topics/log-source.js';
import { LogReader } from '../../src/topics/log-reader.js';
import fc from '../support/fast-check.js';
import { ScriptedBroker } from './broker.js';

type Policy = 'history' | 'drop';

/** So many messages wait for a subscriber here, so that few commands make one fall behind. */
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
