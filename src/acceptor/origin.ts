import { booleanOf } from '../stream/promises.js';
import { checkBoolean, optionError, readObject, tagOf } from '../util/check.js';
import type { Options } from '../util/check.js';

/** Which web pages may connect: their origins, a function that decides, or an object that demands an origin of every request. */
export type OriginsOf<Q> = readonly (string | RegExp)[] | ((origin: string | undefined, request: Q) => boolean) | OriginRules;

/** Demands an `Origin` of every request. */
export interface OriginRules {
  /** Lists the pages that may connect. Default the pages of the default of `origins`. */
  readonly allow?: readonly (string | RegExp)[] | undefined;
  /**
   * Refuses an upgrade without `Origin` by 403. A foreign page then gets in through no proxy that drops `Origin`. Programs must send one,
   * too. Default `false`.
   */
  readonly required?: boolean | undefined;
}

/** Declares {@link OriginRules}. */
export const ORIGIN_RULES: Options<OriginRules, { readonly allow: readonly (string | RegExp)[] | undefined; readonly required: boolean }> =
  {
    allow: [checkList, undefined],
    required: [checkBoolean, false],
  };

/** The facts of an upgrade request that decide about it. */
export interface Asked<Q> {
  /** The request, as the server has it. */
  readonly request: Q;
  /** Its path, without the query, which may hold a token. */
  readonly path: string;
  /** The subprotocols that it offers, as the header has them. */
  readonly offered: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  /** The address of the other end of the connection, if it is known: of the nearest proxy, if there is one. */
  readonly remoteAddress: string | undefined;
}

/** An origin as a browser sends it. A page in a sandbox has the origin `null`. */
const WHOLE = /^(null|[a-z][\w+.-]*:\/\/[^/?#*]*)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;

/**
 * Whether the page that sent the request may connect. Without `origins`, two kinds of pages may: pages of this server, and pages on
 * loopback.
 *
 * For loopback, `Host` and the remote address must be on loopback too. The address alone proves nothing behind a proxy on the same
 * machine. A request without `Origin` does not come from a browser and passes.
 *
 * @throws TypeError for a function that returns no boolean, since a promise of `false` would let everybody in; any error that the
 *   function throws
 */
export function originAllowed<Q>({ request, origin, host, remoteAddress }: Asked<Q>, origins: OriginsOf<Q> | undefined): boolean {
  if (typeof origins === 'function') return booleanOf('origins', origins(origin, request));
  const { allow, required = false } = rulesOf(origins);
  if (origin === undefined) return !required;
  // Not `test`, which remembers where the last match of a /g expression ended.
  if (allow !== undefined) return allow.some((allowed) => (typeof allowed === 'string' ? allowed === origin : origin.search(allowed) >= 0));
  const page = parse(origin);
  // A page in a file has no host, and the URL `file://localhost` has none, either.
  if (page === null || page.host === '') return false;
  // Parsing makes a `Host` that names the default port equal to a `Host` that omits it.
  const server = parse(`${page.protocol}//${host ?? ''}`);
  if (server === null) return false;
  return page.host === server.host || (isLoopback(page) && isLoopback(server) && LOOPBACK_ADDRESS.test(remoteAddress ?? ''));
}

function rulesOf(origins: readonly (string | RegExp)[] | OriginRules | undefined): OriginRules {
  return origins === undefined || !isList(origins) ? { ...origins } : { allow: origins };
}

function isList(origins: unknown): origins is readonly (string | RegExp)[] {
  return Array.isArray(origins);
}

/**
 * Returns `origins`.
 *
 * @throws TypeError unless it is a function, an array of strings and RegExps, or an object of {@link ORIGIN_RULES}
 */
export function checkOrigins<Q>(name: string, origins: OriginsOf<Q>): OriginsOf<Q> {
  if (typeof origins === 'function') return origins;
  if (isList(origins)) return checkList(name, origins);
  if (tagOf(origins) === 'RegExp') throw optionError(name, ACCEPTED, origins);
  return readObject(name, origins, ORIGIN_RULES, ACCEPTED);
}

const ACCEPTED = 'an array, a function or { required: true }';

function checkList<T extends readonly unknown[]>(name: string, origins: T): T {
  if (!Array.isArray(origins)) throw optionError(name, 'an array', origins);
  for (const [index, origin] of origins.entries())
    if (typeof origin === 'string') checkWhole(`${name}[${index}]`, origin);
    else if (tagOf(origin) !== 'RegExp') throw optionError(`${name}[${index}]`, 'a string or a RegExp', origin);
  return origins;
}

/** A host alone, a slash at the end, or `*` would match no page, and neither would a default port or a capital letter. */
function checkWhole(name: string, origin: string): void {
  const sent = origin === 'null' ? origin : parse(origin)?.origin;
  if (sent === undefined || !WHOLE.test(origin)) throw optionError(name, "a whole origin, such as 'https://app.example.org'", origin);
  // Schemes that are no web's, such as the one of an extension, have the origin `null` here.
  if (sent !== origin && sent !== 'null') throw optionError(name, `'${sent}', as browsers send this origin`, origin);
}

function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOST.test(hostname);
}

function parse(origin: string): URL | null {
  try {
    return new URL(origin);
  } catch {
    return null;
  }
}
