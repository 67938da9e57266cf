import fc from '../support/fast-check.js';
import type { Frame } from '../../src/wire/frame.js';
import type { CodecName } from '../support/codec/breakable.js';
import type { End } from './pipe.js';

/** The acts of a script, with the weight of each. */
const WEIGHTS = {
  open: 8,
  request: 5,
  notify: 1,
  send: 12,
  sendAll: 2,
  end: 5,
  reset: 2,
  read: 3,
  pull: 3,
  leave: 2,
  settle: 8,
  abort: 1,
  deliver: 22,
  tick: 10,
  advance: 3,
  stall: 2,
  unstall: 2,
  ping: 2,
  // These end or endanger the connection.
  close: 0.3,
  cut: 0.3,
  breakPayload: 0.5,
  breakEnvelope: 0.5,
  breakOpen: 0.5,
  breakReply: 0.5,
  // Honest peers do not do this.
  raw: 1,
} as const;

export type Act = keyof typeof WEIGHTS;

export const ACTS = Object.keys(WEIGHTS) as readonly Act[];

/** One event of a script. Its numbers select among the possibilities at its turn. */
export interface Command {
  readonly act: Act;
  readonly side: End;
  readonly pick: number;
  readonly n: number;
  /** The approximate size of the payload in bytes. */
  readonly size: number;
}

/**
 * The acts that a run may contain. `calm`: harmless ones. `rough`: cuts, closes and failures too.
 * `wild`: also frames that no honest peer sends.
 */
export type Mood = 'calm' | 'rough' | 'wild';

/** The settings of two peers. */
export interface Config {
  readonly codec: CodecName;
  /** The maximum size of one message in bytes. */
  readonly cap: number;
  /** Whether the limits are small enough to be reached. */
  readonly tight: boolean;
  readonly keepalive: boolean;
  readonly mood: Mood;
}

const ROUGH: ReadonlySet<Act> = new Set<Act>(['close', 'cut', 'breakPayload', 'breakEnvelope', 'breakOpen', 'breakReply']);

/** Whether an act belongs in a run of that mood. */
export function isOf(mood: Mood, act: Act): boolean {
  if (act === 'raw') return mood === 'wild';
  return mood !== 'calm' || !ROUGH.has(act);
}

export const config: fc.Arbitrary<Config> = fc.record({
  codec: fc.constantFrom<CodecName[]>('json', 'msgpack'),
  cap: fc.constantFrom(128, 200, 1_024, 65_536),
  tight: fc.boolean(),
  keepalive: fc.boolean(),
  mood: fc.constantFrom<Mood[]>('calm', 'rough', 'wild'),
});

const side: fc.Arbitrary<End> = fc.constantFrom<End[]>(0, 1);

export const command: fc.Arbitrary<Command> = fc.record({
  act: fc.oneof(...ACTS.map((act) => ({ weight: WEIGHTS[act] * 10, arbitrary: fc.constant(act) }))),
  side,
  pick: fc.nat(30),
  n: fc.nat(30),
  size: fc.oneof({ weight: 2, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(1_500) }),
});

export const script = (maxLength: number): fc.Arbitrary<readonly Command[]> => fc.array(command, { maxLength, size: 'max' });

const UNITS = ['a', '"', 'é', '😀', '\\', '€'];

/** A value to send, different for each `serial`. */
export function valueOf({ n, size }: Command, serial: number, codec: CodecName): unknown {
  const text = `${serial}${(UNITS[n % UNITS.length] ?? '').repeat(size / 2)}`;
  switch (n % 7) {
    case 0:
      return { id: serial, text, nested: [null, { deep: true }] };
    case 1:
      return [serial, text, false];
    case 2:
      return serial;
    case 3:
      return codec === 'msgpack' ? Uint8Array.from({ length: size }, (_, at) => serial + at) : null;
    default:
      return text;
  }
}

const IDS = [1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 0, null];

const CONTENTS: readonly Partial<Frame>[] = [{}, { payload: 'raw' }, { payload: null }, { end: true }, { payload: 'raw', end: true }];

/**
 * A frame with valid field types that no honest peer needs to send.
 * Its fragments are empty, or of the kind that the codec does not expect.
 */
export function rawFrame({ n, pick, size }: Command, codec: CodecName): Frame {
  const stream = IDS[pick % IDS.length] ?? null;
  const slice = codec === 'json' ? '"x' : Uint8Array.of(0xa2, 0x78).buffer;
  const content = CONTENTS[size % CONTENTS.length] ?? {};
  const kinds: readonly Frame[] = [
    { type: 'open', stream, ...content },
    { type: 'open', stream, fragment: slice, more: size % 2 === 0 },
    { type: 'data', stream, ...content },
    { type: 'data', stream, ...content },
    { type: 'data', stream, fragment: slice, more: size % 2 === 0 },
    { type: 'data', stream, payload: 'raw', more: true },
    { type: 'data', stream, fragment: codec === 'json' ? '' : new ArrayBuffer(0), more: true },
    { type: 'data', stream, headers: { again: size } },
    { type: 'reset', stream, code: [0, 1, 8, 16, 300][size % 5] ?? null, reason: 'raw' },
    { type: 'reset', stream, fragment: slice, more: size % 2 === 0 },
    { type: 'ping', nonce: 'n'.repeat(size) },
    { type: 'ping', stream },
    { type: 'pong', nonce: 'unasked' },
    { type: 'goaway', code: size % 3, last_stream: pick },
    { type: 'goaway', code: 0, last_stream: null },
    { type: 'window_update', stream },
  ];
  return kinds[n % kinds.length] ?? { type: 'ping' };
}
