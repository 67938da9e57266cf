import type {
  AnyMuxError,
  CodecError,
  CodecMismatch,
  CodecNotRegistered,
  MuxError,
  RefusedError,
  RemoteError,
  ResetError,
} from '../../src/index.js';
import { isMuxError } from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

type WithCode<C extends AnyMuxError['code']> = Extract<AnyMuxError, { readonly code: C }>;

type WithName<N extends AnyMuxError['name']> = Extract<AnyMuxError, { readonly name: N }>;

export type CodesNarrow = [
  Expect<Equal<WithCode<'CODEC_MISMATCH'>, CodecMismatch>>,
  Expect<Equal<WithCode<'CODEC_NOT_REGISTERED'>, CodecNotRegistered>>,
  Expect<Equal<WithCode<'CODEC'>['code'], 'CODEC'>>,
  Expect<Equal<WithCode<'REMOTE'>, RemoteError>>,
  Expect<Equal<WithCode<'RESET'>, ResetError>>,
  Expect<Equal<WithCode<'REFUSED'>, RefusedError>>,
  Expect<Equal<RemoteError['resetCode'], 16>>,
  Expect<Equal<ResetError['resetCode'], number | null>>,
  Expect<Equal<CodecNotRegistered['available'], readonly string[]>>,
  Expect<Accepts<CodecError, CodecMismatch>>,
  Expect<Accepts<MuxError, AnyMuxError>>,
];

export type NamesNarrow = [
  Refuse<Equal<AnyMuxError['name'], string>>,
  Expect<Equal<WithName<'CodecMismatch'>, CodecMismatch>>,
  Expect<Equal<WithName<'CodecError'>['code'], 'CODEC'>>,
  Expect<Equal<WithName<'RemoteError'>, RemoteError>>,
  Expect<Equal<WithName<'ConnectError'>['status'], number | null>>,
];

export type ResetsAreSiblings = [Refuse<Accepts<ResetError, RemoteError>>, Refuse<Accepts<ResetError, RefusedError>>];

/** Handles errors as a `catch` block does. */
export function explain(caught: unknown): string {
  if (!isMuxError(caught)) return 'not one of ours';
  switch (caught.code) {
    case 'REMOTE':
      return (caught satisfies RemoteError) ? caught.reason : '';
    case 'RESET':
    case 'REFUSED':
      return `${String(caught.resetCode)}: ${caught.reason}`;
    case 'CONNECT':
      return caught.reason?.reason ?? String(caught.status);
    case 'CONNECTION_LOST':
      return caught.reason.reason;
    case 'DEADLINE_EXCEEDED':
      return String(caught.timeoutMs);
    case 'CODEC_MISMATCH':
      return `${caught.offered}, ${caught.selected}`;
    case 'CODEC_NOT_REGISTERED':
      return `${caught.configured}: ${caught.available.join()}`;
    case 'CODEC':
    case 'PROTOCOL':
    case 'CANCELLED':
    case 'QUEUE_OVERFLOW':
    case 'IDS_EXHAUSTED':
      return caught.retriable ? 'again' : caught.message;
  }
}

/** Narrows by the class name. */
export function whatWasOffered(caught: AnyMuxError): string | null {
  return caught.name === 'CodecMismatch' ? caught.offered : null;
}
