/** Throws at each call. */
export const bomb = (): never => {
  throw new Error('hands off');
};

const TRAPS = [
  'apply',
  'construct',
  'defineProperty',
  'deleteProperty',
  'get',
  'getOwnPropertyDescriptor',
  'getPrototypeOf',
  'has',
  'isExtensible',
  'ownKeys',
  'preventExtensions',
  'set',
  'setPrototypeOf',
];

/** Throws at each attempt to inspect it. */
export const untouchable: object = new Proxy({}, Object.fromEntries(TRAPS.map((trap) => [trap, bomb])));

/** A revoked proxy, which throws at each access. */
export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object of which this property cannot be read. */
export const withBomb = <T extends object>(target: T, property: PropertyKey): T =>
  Object.defineProperty(target, property, { get: bomb, enumerable: true, configurable: true });

/** An Error that is its own cause, at some distance. */
function circular(): Error {
  const inner: Error = new Error('inner');
  const outer = new Error('outer', { cause: inner });
  inner.cause = outer;
  return outer;
}

class Trouble {
  readonly what = 'trouble';
}

/** Errors that user code may throw, made anew for each test, each with the text that the remote gets. */
export const THROWN: readonly (readonly [what: string, make: () => unknown, text: string])[] = [
  ['undefined', () => undefined, 'unknown error: throw an Error'],
  ['null', () => null, 'null'],
  ['a text', () => 'nope', 'nope'],
  ['an empty text', () => '', 'unknown error: throw an Error'],
  ['an empty list', () => [], 'unknown error: throw an Error'],
  ['a number', () => 42, '42'],
  ['NaN', () => NaN, 'NaN'],
  ['a bigint', () => 1n, '1'],
  ['a symbol', () => Symbol('s'), 'Symbol(s)'],
  ['a function', () => bomb, 'unknown error: throw an Error'],
  ['an instance of a class', () => new Trouble(), 'unknown error: throw an Error'],
  ['a list', () => [1, [2]], '1,2'],
  ['an object without a prototype', () => Object.create(null) as object, 'unknown error: throw an Error'],
  ['an Error', () => new RangeError('range'), 'range'],
  ['a frozen Error', () => Object.freeze(new Error('cold')), 'cold'],
  ['an Error with a circle of causes', circular, 'outer'],
  ['an AggregateError', () => new AggregateError([1, circular()], 'many'), 'many'],
  ['an Error with a lone surrogate and a line break', () => new Error('a\ud800\nb'), 'a\ud800\nb'],
  ['an Error whose message cannot be read', () => withBomb(new Error('m'), 'message'), 'unknown error: throw an Error'],
  ['an Error whose name cannot be read', () => withBomb(new Error('m'), 'name'), 'm'],
  ['an Error whose code cannot be read', () => withBomb(new Error('m'), 'code'), 'm'],
  ['an Error whose stack cannot be read', () => withBomb(new Error('m'), 'stack'), 'm'],
  ['an object that is no text', () => ({ toString: bomb, [Symbol.toPrimitive]: bomb }), 'unknown error: throw an Error'],
  ['an object that a console cannot show', () => ({ [Symbol.for('nodejs.util.inspect.custom')]: bomb }), 'unknown error: throw an Error'],
  ['a promise that never settles', () => new Promise(() => undefined), 'unknown error: throw an Error'],
  ['a thenable that throws', () => ({ then: bomb }), 'unknown error: throw an Error'],
  ['an object whose then cannot be read', () => withBomb({}, 'then'), 'unknown error: throw an Error'],
  ['a proxy that refuses everything', () => untouchable, 'unknown error: throw an Error'],
  ['a revoked proxy', revoked, 'unknown error: throw an Error'],
];
