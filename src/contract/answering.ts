import type { PeerContext } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { answer } from './answer.js';
import type { AnswerOptions, Answers } from './answer.js';
import type { Contract, NamesOf } from './contract.js';

/** The `verify` of a server, whatever it reads of the request. */
export type Verify = (request: never) => unknown;

/** A verdict of `verify` that refuses, or accepts without a context. */
type WithoutContext = boolean | number | { readonly status: number; readonly reason: string; readonly headers: readonly unknown[] };

/** The context of the peers that a `verify` accepts: its result, awaited, where it does not refuse. Without `verify` the PeerContext. */
export type ContextOf<V extends Verify> =
  unknown extends ReturnType<V> ? PeerContext : ContextIn<Exclude<Awaited<ReturnType<V>>, WithoutContext>>;

type ContextIn<X> = [X] extends [never] ? PeerContext : X;

/** Options that make a server answer a contract. They have `verify` where `answering` got one. */
export type Answering<V extends Verify> = {
  /** Answers the streams of a peer. */
  readonly onPeer: (peer: Peer) => void;
} & (Verify extends V
  ? unknown
  : {
      /** The `verify` that `answering` got. */
      readonly verify: V;
    });

/** {@link AnswerOptions}, and the source of the context's type. */
export interface AnsweringOptions<V extends Verify, Name extends string> extends AnswerOptions<ContextOf<V>, Name> {
  /** The server's `verify`. Annotate its parameter, so that TypeScript knows the context before it reads the answers. */
  readonly verify?: V | undefined;
}

/**
 * Makes options that have a server answer a contract: spread them into the options of `serve`, `handleUpgrade` or `accept`. The server
 * imports no code of contracts by itself.
 *
 * @returns `onPeer`, and `verify` where the options have it. A server with an `onPeer` of its own calls this one in it
 * @throws TypeError as {@link answer} does
 *
 * @example
 * ```ts
 * const verify = ({ headers }: IncomingMessage) => userOf(headers.cookie) ?? 401;
 * serve({ port: 8080, ...answering(api, { me: (_, { context }) => context.name }, { verify }) });
 * ```
 */
export function answering<C extends Contract, V extends Verify = Verify>(
  api: C,
  answers: Answers<C, ContextOf<V>>,
  { verify, ...options }: AnsweringOptions<V, NamesOf<C>> = {},
): Answering<V> {
  const answered = answer<C, ContextOf<V>>(api, answers, options);
  const onPeer = (peer: Peer): void => {
    peer.streams$.pipe(answered).subscribe();
  };
  return (verify === undefined ? { onPeer } : { onPeer, verify }) as Answering<V>;
}
