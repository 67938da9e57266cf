import fc from '../fast-check.js';
import { ABSENT } from '../../../src/wire/frame.js';
import type { Frame, Metadata } from '../../../src/wire/frame.js';

/** Text that is hard to cut: escapes, every width of UTF-8, surrogate pairs and halves of them. */
export const awkwardText = (maxLength = 60): fc.Arbitrary<string> =>
  fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        '"',
        '\\',
        '\n',
        '\u0000',
        '\u007f',
        '\u0080',
        '\u07ff',
        '\u0800',
        '<',
        '}',
        'é',
        '€',
        '\u2028',
        '😀',
        '\ud83d',
        '\ude00',
      ),
      {
        maxLength,
      },
    )
    .map((units) => units.join(''));

/** Any value that JSON carries, with text that is hard to cut. */
export const jsonPayload = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    awkwardText(),
    fc.array(awkwardText(), { minLength: 2, maxLength: 4 }),
    fc.string({ minLength: 40, maxLength: 160 }),
    fc.dictionary(fc.constantFrom('id', 'näme', '"', '😀', 'x'), fc.oneof(fc.integer(), awkwardText(8), fc.boolean(), fc.constant(null))),
    fc.jsonValue({ maxDepth: 3 }),
    fc.constant(null),
  );

/** JSON values, and bytes both shorter and longer than a one-byte length can say. MessagePack refuses the key `__proto__`. */
export const binaryPayload = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    jsonPayload().filter((value) => !JSON.stringify(value).includes('"__proto__":')),
    fc.uint8Array({ maxLength: 80 }),
    fc.uint8Array({ minLength: 250, maxLength: 262 }),
    fc.array(fc.constantFrom(0x7d, 0x20), { maxLength: 60 }).map((bytes) => Uint8Array.from(bytes)),
  );

/** Frames with any mix of fields. Nearly all have a payload to cut. */
export const frames = (payload: fc.Arbitrary<unknown>): fc.Arbitrary<Frame> =>
  fc.record(
    {
      type: fc.constantFrom('open', 'data', 'reset', 'goaway', 'später'),
      payload: fc.oneof({ weight: 11, arbitrary: payload }, { weight: 1, arbitrary: fc.constant(ABSENT) }),
      stream: fc.oneof(fc.nat(9), fc.maxSafeNat(), fc.constant(null)),
      headers: metadata(),
      end: fc.boolean(),
      trailers: metadata(),
      code: fc.oneof(fc.constant(null), fc.integer()),
      reason: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: awkwardText(8) }),
      nonce: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: awkwardText(8) }),
      last_stream: fc.oneof(fc.constant(null), fc.nat(300)),
    },
    { requiredKeys: ['type', 'payload'] },
  );

const metadata = (): fc.Arbitrary<Metadata | null> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom('op', 'ключ', '"k"'), fc.oneof(awkwardText(6), fc.nat(), fc.constant(null)), { maxKeys: 2 }),
    },
  );

/** Every kind of value that the codec `rich` carries, nested in each other, and objects that look like its tagged form. */
export const richPayload = (): fc.Arbitrary<unknown> => richValue().filter((value) => value !== undefined);

const richValue = (): fc.Arbitrary<unknown> =>
  fc.letrec<{ value: unknown }>((tie) => {
    const key = fc.oneof(fc.constantFrom('$', '$$', '__proto__', 'constructor', 'toString', '1', 'id', 'näme', '"'), awkwardText(6));
    const entries = fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name });
    return {
      value: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.oneof(
          awkwardText(12),
          fc.integer(),
          fc.double(),
          fc.constantFrom(NaN, Infinity, -Infinity, -0, 0, null, true, false, undefined, '$', '\\u0024'),
          fc.bigInt(),
          fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }),
          fc.date({ noInvalidDate: false }),
          fc.uint8Array({ maxLength: 20 }),
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        // Unlike a literal, it makes an own property of `__proto__`.
        entries.map((all) => Object.fromEntries(all)),
        fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((all) => new Map(all)),
        fc.array(tie('value'), { maxLength: 4 }).map((all) => new Set(all)),
        tie('value').map((value) => ({ $: value })),
        fc
          .tuple(fc.constantFrom('date', 'map', 'set', 'bigint', 'number', 'undefined', 'bytes', '$', 'x'), tie('value'))
          .map((tag) => ({ $: tag })),
      ),
    };
  }).value;
