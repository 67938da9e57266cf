import type { JsonCodec } from '../../../src/codec/json.js';
import type { MsgpackCodec } from '../../../src/codec/msgpack.js';
import type { envelopeBound } from '../../../src/wire/outgoing.js';
import type { Field, FIELDS } from '../../../src/wire/frame.js';
import type { splitFrame } from '../../../src/wire/fragment.js';
import type { completeFrame, Frame, payloadFrame } from '../../../src/wire/frame.js';
import type { framesEqual } from '../../../src/wire/mapping.js';
import type { fromMapping, toMapping } from '../../../src/wire/mapping.js';
import type { OutgoingFrame } from '../../../src/wire/outgoing.js';

/** The parts of the library that know the fields of a frame. A spec may load a copy with one field more. */
export interface FieldModules {
  readonly FIELDS: typeof FIELDS;
  readonly completeFrame: typeof completeFrame;
  readonly payloadFrame: typeof payloadFrame;
  readonly toMapping: typeof toMapping;
  readonly fromMapping: typeof fromMapping;
  readonly framesEqual: typeof framesEqual;
  readonly OutgoingFrame: typeof OutgoingFrame;
  readonly splitFrame: typeof splitFrame;
  readonly envelopeBound: typeof envelopeBound;
  readonly JsonCodec: typeof JsonCodec;
  readonly MsgpackCodec: typeof MsgpackCodec;
}

/** The values of a field by its kind: of a few bytes, and of more than any envelope. */
const VALUES = {
  type: ['open', 'x'.repeat(2_000)],
  id: [7, 2 ** 53 - 1],
  code: [300, -(2 ** 53)],
  flag: [true, true],
  text: ['a', '\u0000'.repeat(2_000)],
  slice: ['a', 'a'],
  metadata: [{ a: 'b' }, { ['\u0000'.repeat(1_000)]: '\u0000'.repeat(1_000) }],
  payload: [{ a: 1 }, { a: 1 }],
} satisfies Record<Field<unknown>['kind'], readonly [unknown, unknown]>;

type Place = (library: FieldModules, field: Field<unknown>, value: unknown, long: unknown) => boolean;

/** Each place that spells fields out or reads their table, and whether it knows a field. */
const PLACES: Readonly<Record<string, Place>> = {
  completeFrame: ({ completeFrame, payloadFrame }, { key }, value) => {
    const full = { ...payloadFrame('data', 1, false, 0), [key]: value };
    return completeFrame(full)[key] === value && completeFrame({ ...full, [key]: undefined })[key] !== undefined;
  },
  payloadFrame: ({ payloadFrame }, { key }) => key in payloadFrame('data', 1, false, 0),
  toMapping: ({ toMapping }, { key }, value) => toMapping(frameWith(key, value))[key] === value,
  fromMapping: ({ fromMapping }, { key }, value) => fromMapping(frameWith(key, value))[key] === value,
  framesEqual: ({ framesEqual }, { key }, value) => !framesEqual(frameWith(key, value), { type: 'data' }),
  OutgoingFrame: ({ OutgoingFrame, JsonCodec }, { key }, value) =>
    IN_FRAGMENTS.has(key) || new OutgoingFrame({ ...frameWith('payload', 1), [key]: value }, '1', new JsonCodec())[key] === value,
  splitFrame: ({ splitFrame, JsonCodec }, { key }, value) => {
    if (IN_FRAGMENTS.has(key) || key === 'payload') return true;
    const slices = splitFrame({ ...frameWith('payload', 'x'.repeat(300)), [key]: value }, 200, new JsonCodec());
    return slices.some((slice) => slice[key] === value);
  },
  envelopeBound: ({ envelopeBound, toMapping }, { key, kind }, _value, long) =>
    kind === 'payload' || envelopeBound(frameWith(key, long)) >= JSON.stringify(toMapping(frameWith(key, long))).length,
  JsonCodec: ({ JsonCodec }, { key, kind }, value) => {
    const codec = new JsonCodec();
    const read = JSON.parse(codec.encode(frameWith(key, value))) as Record<string, unknown>;
    return kind === 'slice' ? read[key] === value : JSON.stringify(read[key]) === JSON.stringify(value);
  },
  MsgpackCodec: ({ MsgpackCodec }, { key }, value) => Buffer.from(new MsgpackCodec().encode(frameWith(key, value))).includes(key),
  'MsgpackCodec beside a payload': ({ MsgpackCodec }, { key, kind }, value) =>
    kind === 'slice' || Buffer.from(new MsgpackCodec().encode({ stream: 1, payload: 0, ...frameWith(key, value) })).includes(key),
};

/** Fields that change when a payload is cut. */
const IN_FRAGMENTS: ReadonlySet<string> = new Set(['fragment', 'more']);

function frameWith(key: string, value: unknown): Frame {
  return { type: 'data', [key]: value };
}

/** The places that miss a field. */
export function placesWithout(key: string, library: FieldModules): string[] {
  const field = Object.values<Field<unknown>>(library.FIELDS).find((each) => each.key === key);
  if (field === undefined) return ['FIELDS'];
  const [value, long] = VALUES[field.kind];
  return Object.keys(PLACES).filter((name) => PLACES[name]?.(library, field, value, long) !== true);
}
