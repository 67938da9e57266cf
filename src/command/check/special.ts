import type { RawCodec } from '../raw-codec.js';

/** One of several values that a target may choose from. */
export class OneOf {
  constructor(readonly values: readonly unknown[]) {}
}

/** Stands for any value. */
export const ANY = Symbol('any value');

/** The values of a row that depend on its run. */
export interface Scope {
  readonly codec: RawCodec;
  /** The value of this variant of the row. */
  readonly each: unknown;
  /** How often a repeated step has run. */
  readonly count: number;
}

type Maker = (inner: unknown, scope: Scope) => unknown;

const MAKERS: Readonly<Record<string, Maker>> = {
  $any: () => ANY,
  $each: (_, scope) => revive(scope.each, scope),
  $bytes: (hex) => Uint8Array.from(Buffer.from(String(hex), 'hex')),
  $count: (inner, { count }) => {
    const [start, step] = inner as readonly [number, number];
    return start + step * count;
  },
  $date: (ms) => new Date(Number(ms)),
  $json: (text) => JSON.parse(String(text)) as unknown,
  $longest: (excess, { codec }) => padding(Number(excess) + MAX_FRAME_BYTES, (nonce) => codec.encode({ type: 'pong', nonce })),
  $nested: (depth) => nested(Number(depth)),
  $number: (name) => Number(name),
  $oneOf: (values, scope) => new OneOf((values as readonly unknown[]).map((value) => revive(value, scope))),
  $repeat: (inner) => {
    const [text, times] = inner as readonly [string, number];
    return text.repeat(times);
  },
  $slice: (inner, scope) => {
    const [payload, from, to] = inner as readonly [unknown, number, number | null];
    return scope.codec.encode(revive(payload, scope)).slice(from, to ?? undefined);
  },
};

/** The longest message that a sender may send (F). */
export const MAX_FRAME_BYTES = 65_536;

/** Returns a value of a row, with each special value in it made. */
export function revive(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((inner) => revive(inner, scope));
  if (typeof value !== 'object' || value === null) return value;
  const entries: [string, unknown][] = Object.entries(value);
  const [key, inner] = entries[0] ?? ['', null];
  const make = entries.length === 1 ? MAKERS[key] : undefined;
  return make === undefined ? Object.fromEntries(entries.map(([name, part]) => [name, revive(part, scope)])) : make(inner, scope);
}

/** Returns a text with which the encoded message has exactly `bytes` bytes. */
export function padding(bytes: number, encode: (text: string) => string | Uint8Array): string {
  let length = bytes;
  for (;;) {
    const excess = Buffer.byteLength(encode('x'.repeat(length))) - bytes;
    if (excess === 0) return 'x'.repeat(length);
    length -= excess;
  }
}

function nested(depth: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}
