import { checkObject } from '../wire/check.js';

/**
 * Declares one option: `read` checks a given value and returns what the program uses; `byDefault` is used where none is given.
 * A name has its unit: `…Ms`, `…Bytes`.
 */
export type Option<Given, Used = Given> = readonly [read: (name: string, given: Given) => Used, byDefault: Used];

/** Declares all options of an interface, in the order of their checks. `Used` differs where options have defaults, or are converted. */
export type Options<Given, Used extends { readonly [Name in keyof Given]-?: unknown } = Required<Given>> = {
  readonly [Name in keyof Given]-?: Option<Exclude<Given[Name], undefined>, Used[Name]>;
};

/** The names of all options of an interface that each call reads for itself. */
export type NamesOf<Given> = Readonly<Record<keyof Given, true>>;

type AnyOptions = Readonly<Record<string, Option<never, unknown>>>;

/** Values for declared options; `undefined` is not given. */
type GivenOf<Declared extends AnyOptions> = {
  readonly [Name in keyof Declared]?: Parameters<Declared[Name][0]>[1] | undefined;
};

/** Declared options, as the program uses them. */
type UsedOf<Declared extends AnyOptions> = { readonly [Name in keyof Declared]: Declared[Name][1] };

/**
 * Checks each given option once, and fills in the defaults of the others.
 *
 * @param path stands before each name in errors
 * @throws TypeError naming the first wrong option
 */
export function readOptions<Declared extends AnyOptions>(declared: Declared, given: GivenOf<Declared>, path = ''): UsedOf<Declared> {
  const used: Record<string, unknown> = {};
  for (const [name, [read, byDefault]] of Object.entries<Option<never, unknown>>(declared)) {
    const value = given[name] as undefined;
    used[name] = value === undefined ? byDefault : read(path + name, value);
  }
  return used as UsedOf<Declared>;
}

/**
 * Reads an object of options whose names one declaration holds. Unlike {@link readOptions} it takes no unknown name.
 *
 * @param expected names the accepted values in the error
 * @throws TypeError naming the first wrong option, or the unknown one
 */
export function readObject<Declared extends AnyOptions>(
  name: string,
  given: GivenOf<Declared>,
  declared: Declared,
  expected?: string,
): UsedOf<Declared> {
  refuseUnknown(name, checkObject(name, given, expected), declared);
  return readOptions(declared, given, `${name}.`);
}

/**
 * Checks the names of options. A misspelt `verify` would admit every peer, and a misspelt `timeoutMs` would wait for ever.
 *
 * @throws TypeError naming an option that none of the declarations has
 */
export function refuseUnknown(name: string, given: object, ...declared: readonly object[]): void {
  for (const key of Object.keys(given)) {
    if (declared.some((options) => Object.hasOwn(options, key))) continue;
    // Every call of a peer passes here, so only an error lists the names.
    const names = declared.flatMap((options) => Object.keys(options));
    throw new TypeError(`${name}: expected one of ${names.join(', ')}, got '${key}'`);
  }
}

/**
 * {@link refuseUnknown} for an argument named `options`.
 *
 * @throws TypeError unless `given` is an object
 */
export function checkOptions(given: object, ...declared: readonly object[]): void {
  refuseUnknown('options', checkObject('options', given), ...declared);
}

/** Reads an option that is checked later, together with others. */
export function asGiven<Given>(_name: string, given: Given): Given {
  return given;
}
