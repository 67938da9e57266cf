import { MAX_FRAME_BYTES } from './special.js';
import { oneLine } from '../output.js';
import type { Envelope } from '../raw-codec.js';

const CONNECTION_TYPES: ReadonlySet<unknown> = new Set(['ping', 'pong', 'goaway']);
const TYPES: ReadonlySet<unknown> = new Set(['open', 'data', 'reset', ...CONNECTION_TYPES]);

/** The rules that a sender keeps in every frame. They are checked during all rows. */
export const HABITS: Readonly<Record<string, string>> = {
  F: 'Each message has at most 65 536 bytes',
  E1: 'Keys have their order, and no field is at its default',
  E2: 'Each frame has a known type',
  S1: 'Stream ids of opens have the parity of their side, and rise',
  S2: 'No data follows an end',
};

/** Watches the frames of one side of one connection, and notes each habit that it breaks. */
export class Habits {
  readonly broken = new Map<string, string>();
  #highest = 0;
  readonly #ended = new Set<unknown>();

  /** @param parity 0 if the side opens even ids, 1 if odd ones */
  constructor(private readonly parity: 0 | 1) {}

  see(frame: Envelope, bytes: number): void {
    const { type, stream } = frame;
    this.#expect('F', bytes <= MAX_FRAME_BYTES, `a message of ${bytes} bytes`);
    this.#expect('E1', isCanonical(frame), `the keys ${Object.keys(frame).join(', ')}`);
    this.#expect('E2', TYPES.has(type), `the type ${String(type)}`);
    if (type === 'open') this.#opened(Number(stream), frame['fragment'] !== undefined);
    if (type === 'data') this.#expect('S2', !this.#ended.has(stream), `a data of stream ${String(stream)} after its end`);
    if (frame['end'] === true) this.#ended.add(stream);
  }

  #opened(id: number, isFragment: boolean): void {
    this.#expect(
      'S1',
      id % 2 === this.parity && (id > this.#highest || (isFragment && id === this.#highest)),
      `an open of stream ${id} after ${this.#highest}`,
    );
    this.#highest = Math.max(this.#highest, id);
  }

  #expect(rule: string, isKept: boolean, got: string): void {
    if (!isKept && !this.broken.has(rule)) this.broken.set(rule, oneLine(got));
  }
}

function isCanonical(frame: Envelope): boolean {
  const [first, ...rest] = Object.keys(frame);
  const others = rest[0] === 'stream' ? rest.slice(1) : rest;
  const isAtDefault = Object.entries(frame).some(([key, value]) => key !== 'payload' && (value === null || value === false));
  return first === 'type' && !isAtDefault && !others.includes('stream') && others.join() === [...others].sort().join();
}
