import { defaultIfEmpty, lastValueFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { OPEN_NAMES } from '../peer/calls.js';
import type { InputOptions, OpenOptions } from '../peer/calls.js';
import type { Peer } from '../peer/peer.js';
import { checkPeer } from '../peer/options.js';
import type { Input } from '../stream/input.js';
import { copyMetadata } from '../stream/metadata.js';
import { checkObject, checkOptions } from '../util/check.js';
import type { MetadataInput } from '../wire/frame.js';
import { checkEntry, isProcedure, opening } from './contract.js';
import type { ArrivedOver, CarriedOr, CodecIn } from './carried.js';
import type { Contract, TIMEOUT_HEADER } from './contract.js';
import type {
  ChannelProcedure,
  Checked,
  Procedure,
  TypesOf,
  RequestProcedure,
  Sent,
  StreamProcedure,
  UploadProcedure,
} from './procedure.js';
import { checkBy, checkEach } from './validate.js';

/** Makes requests. The call itself is a cold Observable: each subscription asks anew, and unsubscribing cancels. */
export interface RequestCall<Payload, Reply> {
  (payload: Payload, options?: OpenOptions<Reply, never>): Observable<Reply>;
  /** Asks at once. Rejects as `peer.request` does. */
  promise(payload: Payload, options?: OpenOptions<Reply, never>): Promise<Reply>;
  /** Sends the payload and drops the answer, as `peer.notify` does: for pushes to many peers. */
  notify(payload: Payload, options?: { readonly headers?: MetadataInput | undefined }): void;
}

/** Opens streams: each subscription is one, and unsubscribing cancels it on the other side. */
export type StreamCall<Payload, Item> = (payload: Payload, options?: OpenOptions<Item, never>) => Observable<Item>;

/** Options of a call that sends inputs. */
export type SendingOptions<Item, In> = OpenOptions<Item, In> & Pick<InputOptions<In>, 'overflow'>;

/** Sends uploads: each subscription takes the input and sends it. */
export interface UploadCall<Payload, In, Reply> {
  (payload: Payload, input: Input<In>, options?: SendingOptions<Reply, In>): Observable<Reply>;
  /** Sends at once, and resolves with the reply. Rejects as `peer.request` does, for bad options too. */
  promise(payload: Payload, input: Input<In>, options?: SendingOptions<Reply, In>): Promise<Reply>;
}

/** Opens streams that go both ways. */
export type ChannelCall<Payload, In, Item> = (payload: Payload, input: Input<In>, options?: SendingOptions<Item, In>) => Observable<Item>;

/**
 * How values arrive at the caller: as the codec carries what the answering side's schema makes, or, where the caller checks too, as its
 * own schema makes them.
 *
 * @typeParam Of the procedure of the value, whose contract may name a codec
 * @typeParam Nothing how `undefined` arrives: as `null` in the place of a reply
 */
export type Arriving<X, Validated, Of = unknown, Nothing = undefined> = unknown extends X
  ? X
  : [X] extends [Checked<infer S>]
    ? Validated extends true
      ? TypesOf<S>['output']
      : ArrivedOver<TypesOf<S>['output'], CodecIn<Of>, Nothing>
    : CarriedOr<X, CodecIn<Of>, Nothing>;

/** The call of one procedure, or the calls of a namespace. */
export type CallOf<X, Validated> =
  X extends RequestProcedure<infer P, infer R, object>
    ? RequestCall<Sent<P, X>, Arriving<R, Validated, X, null>>
    : X extends StreamProcedure<infer P, infer T, object>
      ? StreamCall<Sent<P, X>, Arriving<T, Validated, X>>
      : X extends UploadProcedure<infer P, infer U, infer R, object>
        ? UploadCall<Sent<P, X>, Sent<U, X>, Arriving<R, Validated, X, null>>
        : X extends ChannelProcedure<infer P, infer U, infer T, object>
          ? ChannelCall<Sent<P, X>, Sent<U, X>, Arriving<T, Validated, X>>
          : Client<X, Validated>;

/**
 * The payload of a procedure, as its caller passes it.
 *
 * @example
 * ```ts
 * const book = (payload: Payload<typeof api.book>) => calls.book.promise(payload);
 * ```
 */
export type Payload<X extends Procedure> = X extends { readonly '~types'?: readonly [infer P, ...unknown[]] } ? Sent<P, X> : never;

/**
 * The reply of a request or an upload, as its caller gets it.
 *
 * @example
 * ```ts
 * function Profile({ user }: { user: Reply<typeof api.me> }) { … }
 * ```
 */
export type Reply<X extends RequestProcedure<unknown, unknown, object> | UploadProcedure<unknown, unknown, unknown, object>> = Output<
  X,
  null
>;

/**
 * One item of a stream or a channel, as its caller gets it.
 *
 * @example
 * ```ts
 * const rows = signal<readonly Item<typeof api.prices>[]>([]);
 * ```
 */
export type Item<X extends StreamProcedure<unknown, unknown, object> | ChannelProcedure<unknown, unknown, unknown, object>> = Output<X>;

type Output<X, Nothing = undefined> = X extends { readonly '~types'?: readonly [unknown, infer Out, unknown?] }
  ? Arriving<Out, false, X, Nothing>
  : never;

/** A function for each procedure of a contract, in the contract's own namespaces. */
export type Client<C, Validated = false> = { readonly [N in keyof C]: CallOf<C[N], Validated> };

/** How a client is made. */
export interface ClientOptions<Validated extends boolean = boolean> {
  /**
   * Whether replies and items are checked where they arrive, too, and become what their schema makes of them. The schema then has to
   * accept what it has made at the answering side. Default `false`.
   */
  readonly validate?: Validated | undefined;
}

/**
 * Makes a function for each procedure of a contract. Each takes the payload, the input of uploads and channels, and the options of a
 * call: `timeoutMs`, `signal`, `retry`, `headers`, `onOpen`, `overflow`. A `timeoutMs` travels with the call, so the answer can see it in
 * `signal`.
 *
 * Catch declared errors with {@link whenError}. Calls fail with the other errors of `peer.open$`, too.
 *
 * @throws TypeError for a `peer` that is no peer, and an `api` that is no contract
 *
 * @example
 * ```ts
 * import { api } from './api.ts';
 *
 * const calls = client(connect('wss://example.org/mux'), api);
 * await calls.square.promise({ n: 12 });                                      // 144
 * calls.countdown({ from: 10 }).pipe(take(3)).subscribe(console.log);         // 10, 9, 8, and the server stops
 * ```
 */
export function client<C extends Contract, V extends boolean = false>(peer: Peer, api: C, options: ClientOptions<V> = {}): Client<C, V> {
  checkPeer('client', peer, 'open$');
  checkOptions(options, { validate: true });
  return callsOf(peer, checkObject('client', api, 'a contract'), options.validate === true, '') as Client<C, V>;
}

function callsOf(peer: Peer, api: Contract, validate: boolean, prefix: string): unknown {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(api).map(([key, value]) => {
        const name = prefix + key;
        const entry = checkEntry(name, value);
        return [key, isProcedure(entry) ? callOf(peer, name, entry, validate) : callsOf(peer, entry, validate, `${name}.`)];
      }),
    ),
  );
}

function callOf(peer: Peer, name: string, { kind, output }: Procedure, validate: boolean): unknown {
  const check = checkBy(validate ? output : undefined, `what '${name}' sent`);
  const checked = checkEach(check);
  const sending = (payload: unknown, input: Input<unknown> | undefined, options?: OpenOptions): Observable<unknown> => {
    // `open$` takes `undefined` for no input, so an empty choice of a page would be an empty file. It refuses `null`.
    const items$ = peer.open$(opening(name, payload), { ...timed(options, { overflow: true }), input: input ?? (null as never) });
    return (kind === 'upload' ? items$.pipe(defaultIfEmpty<unknown, unknown>(null)) : items$).pipe(checked);
  };
  switch (kind) {
    case 'channel':
      return sending;
    case 'upload':
      // Async, so that bad options reject.
      return Object.assign(sending, { promise: async (...call: Parameters<typeof sending>) => lastValueFrom(sending(...call)) });
    case 'stream':
      return (payload: unknown, options?: OpenOptions<unknown, never>) => peer.open$(opening(name, payload), timed(options)).pipe(checked);
    case 'request':
      return Object.assign(
        (payload: unknown, options?: OpenOptions<unknown, never>) => peer.request$(opening(name, payload), timed(options)).pipe(checked),
        {
          promise: async (payload: unknown, options?: OpenOptions<unknown, never>) =>
            peer.request(opening(name, payload), timed(options)).then(check),
          notify: (payload: unknown, options?: { readonly headers?: MetadataInput }) => peer.notify(opening(name, payload), options),
        },
      );
  }
}

/**
 * The options of a call, whose time-out travels with it.
 *
 * @throws TypeError for an unknown option: `open$` would send a stray `input`; and for headers that are no plain object
 */
function timed<O extends OpenOptions<unknown, never>>(options = {} as O, more: object = {}): O {
  checkOptions(options, OPEN_NAMES, more);
  const { timeoutMs = 0, headers } = options;
  return timeoutMs > 0 && timeoutMs < Infinity
    ? { ...options, headers: { ...copyMetadata(headers), timeoutMs } satisfies Record<typeof TIMEOUT_HEADER, number> }
    : options;
}
