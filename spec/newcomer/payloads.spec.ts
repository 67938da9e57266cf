import { count } from 'rxjs';
import { answering, contract, request, upload } from '../../src/contract.js';
import { mistakes, untyped } from './mistake.js';
import type { Lab, Mistake } from './mistake.js';

const api = contract(
  { echo: request<unknown, unknown>(), store: upload<void, unknown, number>() },
  { codec: 'of a program without types' },
);
const answers = answering(api, {
  echo: (value) => value,
  store: (_, { input }) => input.pipe(count()),
});

const sent = async (lab: Lab, value: unknown) => (await lab.calls(api, answers)).echo.promise(value);
const replied = async (lab: Lab, value: unknown) =>
  (await lab.calls(api, answering(api, { echo: () => value, store: () => 0 }))).echo.promise(null);

class Money {
  readonly currency = 'EUR';
  readonly #cents = 199;
  get cents(): number {
    return this.#cents;
  }
}

function circle(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}

/** Values that JSON would lose, and the end of the text. */
const REFUSED: readonly [what: string, value: unknown, end: string][] = [
  ['a Map', new Map(), 'got a Map: try Object.fromEntries(map) or rxmux/rich'],
  ['a Set', new Set(), 'got a Set: try [...set] or rxmux/rich'],
  ['a bigint', 1n, 'got a bigint: try String(n) or rxmux/rich'],
  ['NaN', NaN, 'got NaN: try null or rxmux/rich'],
  ['Infinity', Infinity, 'got Infinity: try null or rxmux/rich'],
  ['a function', () => 1, 'got a function'],
  ['a symbol', Symbol('x'), 'got a symbol'],
  ['a RegExp', /x/, 'got a RegExp'],
  ['an Error', new Error('x'), 'got an Error'],
  ['a promise, because an `await` is missing', Promise.resolve(1), 'got a promise (await it first)'],
  ['bytes', new Uint8Array(3), 'got bytes (Uint8Array): try rxmux/msgpack or rxmux/rich'],
  ['a Blob', new Blob(['x']), 'got a Blob'],
];

const refused = REFUSED.map(([what, value, end]): Mistake => ({
  mistake: `a payload holds ${what}`,
  program: (lab) => sent(lab, { a: [1, { b: value }] }),
  fails: new RegExp(`^codec 'json': expected a value it can carry at payload\\[1\\]\\.a\\[1\\]\\.b, ${end.replace(/[()[\].*]/g, '\\$&')}$`),
}));

mistakes([
  {
    mistake: 'a `Date` is returned, and its methods are called at the caller',
    program: (lab) => replied(lab, new Date(0)),
    gets: '1970-01-01T00:00:00.000Z',
    because: 'JSON writes a date as a text, and the type of the contract says so',
  },
  {
    mistake: 'an instance with a getter is returned',
    program: (lab) => replied(lab, new Money()),
    gets: { currency: 'EUR' },
    because: 'JSON writes the own properties of an object',
  },
  {
    mistake: '`undefined` is returned inside of a value',
    program: (lab) => replied(lab, { a: undefined, b: [undefined] }),
    gets: { b: [null] },
    because: 'JSON has no undefined',
  },
  ...refused,
  {
    mistake: 'a Map is returned',
    program: (lab) => replied(lab, { seats: new Map() }),
    fails: /^codec 'json': expected a value it can carry at payload\.seats, got a Map: try Object\.fromEntries\(map\) or rxmux\/rich$/,
    prints: [/a handler failed TypeError: codec 'json': expected a value it can carry at payload\.seats, got a Map/],
  },
  {
    mistake: 'a payload is circular',
    program: (lab) => sent(lab, circle()),
    fails: /^codec 'json': expected at most 256 levels of nesting in payload, got more or a circular structure$/,
  },
  {
    mistake: 'a file is uploaded over json',
    program: async (lab) => (await lab.calls(api, answers)).store.promise(undefined, new Blob(['a file'])),
    fails: /^codec 'json': .* got bytes \(Uint8Array\): try rxmux\/msgpack or rxmux\/rich$/,
  },
  {
    mistake: 'a page uploads the first file of an empty choice',
    program: async (lab) => (await lab.calls(api, answers)).store.promise(undefined, untyped([][0])),
    fails: /^You provided 'null' where a stream was expected\. You can provide an Observable, Promise, ReadableStream, Array,/,
  },
  {
    mistake: 'a payload has 20 MiB',
    program: (lab) => sent(lab, 'x'.repeat(20 << 20)),
    fails: /reset with PAYLOAD_TOO_LARGE: payload of at least \d+ bytes is over the receiver's limit of 16777216 \(maxPayloadBytes\)$/,
    prints: [/refused a stream with PAYLOAD_TOO_LARGE: payload of at least \d+ bytes is over the receiver's limit/],
  },
  {
    mistake: 'a reply has 20 MiB',
    program: (lab) => replied(lab, 'x'.repeat(20 << 20)),
    fails: /PAYLOAD_TOO_LARGE: payload of at least \d+ bytes is over the receiver's limit of 16777216 \(maxPayloadBytes\)$/,
  },
]);
