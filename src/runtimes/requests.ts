import { asyncScheduler, defer, firstValueFrom, timer } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import { ledgerOf } from '../acceptor/accepted.js';
import { isAddress } from '../acceptor/address.js';
import { GOING_AWAY, UPGRADE_REQUIRED, ruling$, seatOrObjection } from '../acceptor/judge.js';
import type { Policy } from '../acceptor/judge.js';
import { refuseGiven, resolveJudged } from '../acceptor/options.js';
import type { JudgedOptions } from '../acceptor/options.js';
import type { Asked } from '../acceptor/origin.js';
import { PeerSet } from '../acceptor/peer-set.js';
import { CLOSING_MS } from '../connection/watchdog.js';
import { refused } from '../acceptor/refusals.js';
import { boundRates } from '../acceptor/sparse-log.js';
import { totalsOf } from '../acceptor/totals.js';
import type { Seat } from '../acceptor/ledger.js';
import type { TotalLimits, Totals } from '../acceptor/totals.js';
import { PLAIN_TEXT, REFUSED_BY_VERIFY, refusalOf, withDefaults } from '../acceptor/verdict.js';
import type { HeaderLine, HttpAnswer, Objection, UpgradeRefusal, Verdict } from '../acceptor/verdict.js';
import type { PeerContext } from '../peer/options.js';
import { eventsOf } from '../transport/transport.js';
import type { Transport } from '../transport/transport.js';
import { checkFunction, checkObject, optionError, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { offersFirst, subprotocol } from '../wire/codec.js';
import { CloseCode } from '../wire/codes.js';

boundRates();

/** Options of `serve`, for a server whose upgrades are `Request` objects. */
export interface ServeOptions extends Omit<JudgedOptions<Request>, 'verify' | 'totalLimits'> {
  /**
   * Decides before the upgrade whether a dialer may connect, and may return its `peer.context`. `false` answers 403, 401 answers 401, and
   * `refuse` any other status. A `verify` that throws or rejects answers 500. `address` is the dialer's, as `addressOf` returns it.
   * Default none: every dialer may.
   */
  readonly verify?: ((request: Request, address: string | null) => Verdict | Promise<Verdict>) | undefined;
  /**
   * Returns the address of the dialer, for `maxConnectionsPerAddress`, `verify` and the log. It receives the address of the connection,
   * which is the nearest proxy's behind one; read the header that your proxy sets. The address has no port. An error that it throws answers 500.
   * Default the address of the connection.
   */
  readonly addressOf?: ((request: Request, address: string | null) => string | null) | undefined;
  /**
   * Bounds all connections of this server together, beside `limits` of each connection. Servers that get the same {@link Totals} count
   * together. Default none.
   */
  readonly totalLimits?: Given<TotalLimits> | Totals | undefined;
}

/** {@link ServeOptions} beyond {@link JudgedOptions}, checked and with defaults. */
interface UsedOptions extends Required<Pick<ServeOptions, 'verify'>> {
  readonly addressOf: NonNullable<ServeOptions['addressOf']>;
  readonly totalLimits: Totals | undefined;
}

/** Declares {@link ServeOptions} beyond {@link JudgedOptions}. */
export const REQUEST_OPTIONS: Options<Pick<ServeOptions, keyof UsedOptions>, UsedOptions> = {
  verify: [checkFunction, undefined],
  addressOf: [checkFunction, (_request, address) => address],
  totalLimits: [totalsOf, undefined],
};

/** The options of Node's `serve` that belong to the HTTP server. */
const LISTENS = ['port', 'host', 'server', 'tls', 'path', 'healthPath', 'listenWhileDraining', 'perMessageDeflate'];

/** The host and the path of a URL. No parser: a runtime may build the URL from a header `Host` that makes it invalid. */
const URL_PARTS = /^(?:[^/?#]*:\/\/([^/?#]*))?([^?#]*)/;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const OFFER_MALFORMED = 'expected different tokens in the header Sec-WebSocket-Protocol';

/** How long the socket of an admitted request may take to open, in ms. */
const OPENING_MS = 10_000;

/** A request that is to be upgraded. */
export interface Admission {
  readonly asked: Asked<Request>;
  readonly address: string | null;
  readonly context: PeerContext | undefined;
  readonly seat: Seat;
  /** Leaves the place of a request whose socket does not open. */
  readonly opening: Subscription;
}

/** A server whose upgrades are `Request` objects. The runtime listens, and routes requests to it. */
export class RequestServer extends PeerSet<Request> {
  /** The subprotocol that the handshake selects. */
  readonly protocol: string;
  readonly #policy: Omit<Policy<Request>, 'verify' | 'seat'>;
  readonly #used: UsedOptions;

  /**
   * @param remedy says how the program of this runtime listens
   * @throws CodecNotRegistered, and TypeError for a bad option
   */
  constructor(options: ServeOptions, remedy: string) {
    refuseGiven(checkObject('options', options), LISTENS, `, ${remedy}`);
    refuseGiven(options, ['trustProxy'], ', because this runtime has addressOf in its place');
    const used = readOptions(REQUEST_OPTIONS, options);
    const resolved = resolveJudged<Request>({ ...options, totalLimits: used.totalLimits, verify: undefined }, REQUEST_OPTIONS);
    super(resolved);
    const { acceptor, verifyTimeoutMs, origins } = resolved;
    this.protocol = subprotocol(acceptor.codec);
    this.#used = used;
    this.#policy = { protocol: this.protocol, verifyTimeoutMs, origins, draining$: this.draining$, log: this.log };
  }

  /** Bytes of one received message at most. */
  get maxMessageBytes(): number {
    return this.resolved.acceptor.limits.maxMessageBytes;
  }

  /**
   * Judges a request before it is upgraded. Returns the answer to a request that is not upgraded.
   *
   * @param remoteAddress the address of the other end of the connection; `null` if the runtime does not know it
   * @param leaves$ emits when the dialer leaves before it is answered
   */
  async judge(
    request: Request,
    remoteAddress: string | null,
    leaves$: Observable<unknown> = defer(() => eventsOf(request.signal, 'abort')),
  ): Promise<Admission | Response> {
    if (typeof (request as Partial<Request> | null | undefined)?.headers?.get !== 'function')
      throw optionError('request', 'a Request', request);
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return this.#answerOrdinary();
    const asked = askedBy(request, remoteAddress);
    // The answer to a wrong first entry says so (V2), whatever follows it.
    if (offersFirst(asked.offered, this.protocol) && !isList(asked.offered))
      return this.#refuse(asked, { status: 400, cause: 'handshake', reason: OFFER_MALFORMED });
    let address: string | null = null;
    const ledger = ledgerOf(this.resolved);
    const { verify, addressOf } = this.#used;
    const policy: Policy<Request> = {
      ...this.#policy,
      verify: verify && (() => verify(request, address)),
      seat: () => {
        address = checkAddress(addressOf(request, remoteAddress));
        return ledger.refusal(address) ?? ledger.seat(address);
      },
    };
    const seat = seatOrObjection(asked, policy);
    if ('status' in seat) return this.#refuse(asked, seat);
    const ruling = await firstValueFrom(ruling$(request, policy, leaves$));
    if (ruling.answer === 'accept') {
      // Not `asyncScheduler.schedule`: its subscription stays open after its time.
      const opening = timer(OPENING_MS).subscribe(() => {
        seat.leave();
      });
      return { asked, address, context: ruling.context, seat, opening };
    }
    seat.leave();
    // The dialer has left, or reads that this side goes away.
    return ruling.answer === 'refuse' ? this.#refuse(asked, ruling.objection) : answer(GOING_AWAY);
  }

  /** The runtime could not upgrade a request that was admitted. */
  fail({ asked, seat, opening }: Admission, reason: string): Response {
    opening.unsubscribe();
    seat.leave();
    return this.#refuse(asked, { status: 400, cause: 'handshake', reason });
  }

  /** Serves a peer over the socket of an admitted request. */
  take({ asked, address, context, seat, opening }: Admission, transport: Transport): void {
    const isLate = opening.closed;
    opening.unsubscribe();
    if (!isLate && !this.draining$.value) {
      this.accept(asked.request, address ?? '', transport, context, seat);
      return;
    }
    if (!isLate) seat.leave();
    transport.close(CloseCode.GOING_AWAY, GOING_AWAY.reason);
    // No connection watches this socket, whose remote may never answer.
    asyncScheduler.schedule(() => {
      transport.terminate();
    }, CLOSING_MS);
  }

  #answerOrdinary(): Response {
    const { status, reason, headers = [] } = this.draining$.value ? GOING_AWAY : UPGRADE_REQUIRED;
    return new Response(`${reason}\n`, { status, headers: { ...PLAIN_TEXT, ...Object.fromEntries(headers) } });
  }

  #refuse(asked: Asked<Request>, objection: Objection): Response {
    this.refused(refused(asked, objection, this.log));
    return answer(objection);
  }
}

/** @throws TypeError for a value that is no address: a program without types may return anything */
function checkAddress(address: unknown): string | null {
  if (address === null || (typeof address === 'string' && isAddress(address))) return address;
  throw optionError('addressOf', 'an address without a port, or null', address);
}

function askedBy(request: Request, remoteAddress: string | null): Asked<Request> {
  const [, host, path = ''] = URL_PARTS.exec(request.url) ?? [];
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  return {
    request,
    path,
    offered: header('sec-websocket-protocol'),
    origin: header('origin'),
    host: header('host') ?? host,
    remoteAddress: remoteAddress ?? undefined,
  };
}

/** Whether an offer is a list of different tokens (RFC 6455 §4.1). Runtimes pass any text. */
function isList(offered = ''): boolean {
  const names = offered.split(',').map((name) => name.trim());
  return names.every((name) => TOKEN.test(name)) && new Set(names).size === names.length;
}

function answer({ status, reason, headers = [] }: HttpAnswer): Response {
  const lines = new Headers();
  for (const [name, value] of withDefaults(headers)) lines.append(name, value);
  return new Response(`${reason}\n`, { status, headers: lines });
}

/**
 * Makes a verdict of `verify` that answers any HTTP status, with headers (V6).
 *
 * @param status an integer from 400 to 599
 * @param headers the headers of the answer: an object, pairs, or `Headers`. Default none
 * @param reason the body, a line of text for people. Default `verify refused the request`
 * @throws TypeError for another status, and for a header that HTTP cannot carry
 *
 * @example
 * ```ts
 * serve({ verify: (request, address) => hasRoom(address) || refuse(429, { 'Retry-After': '5' }) });
 * // a dialer of Node fails with ConnectError { status: 429 } while there is no room
 * ```
 */
export function refuse(
  status: number,
  headers: Readonly<Record<string, string>> | Headers | readonly (readonly [name: string, value: string])[] = {},
  reason: string = REFUSED_BY_VERIFY,
): UpgradeRefusal {
  return refusalOf(status, reason, () => linesOf(headers));
}

function linesOf(headers: Parameters<typeof refuse>[1]): readonly HeaderLine[] {
  if (typeof headers !== 'object') throw optionError('headers', 'an object, pairs or Headers', headers);
  return [...new Headers(headers as HeadersInit)];
}
