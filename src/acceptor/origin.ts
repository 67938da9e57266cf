import { booleanOf } from '../stream/promises.js';
import { optionError, tagOf } from '../util/check.js';

/** Which web pages may connect: their origins, or a function that decides. */
export type OriginsOf<Q> = readonly (string | RegExp)[] | ((origin: string | undefined, request: Q) => boolean);

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
  if (origin === undefined) return true;
  // Not `test`, which remembers where the last match of a /g expression ended.
  if (origins !== undefined)
    return origins.some((allowed) => (typeof allowed === 'string' ? allowed === origin : origin.search(allowed) >= 0));
  const page = parse(origin);
  if (page === null) return false;
  // Parsing makes a `Host` that names the default port equal to a `Host` that omits it.
  const server = parse(`${page.protocol}//${host ?? ''}`);
  if (server === null) return false;
  return page.host === server.host || (isLoopback(page) && isLoopback(server) && LOOPBACK_ADDRESS.test(remoteAddress ?? ''));
}

/**
 * Returns `origins`.
 *
 * @throws TypeError unless it is a function, or an array of strings and RegExps
 */
export function checkOrigins<Q>(name: string, origins: OriginsOf<Q>): OriginsOf<Q> {
  if (typeof origins !== 'function') checkList(name, origins);
  return origins;
}

function checkList(name: string, origins: unknown): void {
  if (!Array.isArray(origins)) throw optionError(name, 'an array or a function', origins);
  for (const [index, origin] of origins.entries())
    if (typeof origin === 'string') checkWhole(`${name}[${index}]`, origin);
    else if (tagOf(origin) !== 'RegExp') throw optionError(`${name}[${index}]`, 'a string or a RegExp', origin);
}

/** A host alone, a slash at the end, or `*` would match no page. */
function checkWhole(name: string, origin: string): void {
  if (!WHOLE.test(origin)) throw optionError(name, "a whole origin, such as 'https://app.example.org'", origin);
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
