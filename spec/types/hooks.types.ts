import type {
  ErrorSerializer,
  Hello,
  IncomingHeadersInterceptor,
  Metadata,
  OpenInterceptor,
  ReplyHeadersInterceptor,
  Stream,
  StreamHandler,
} from '../../src/index.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

interface Question {
  readonly n: number;
}

export type InterceptorsAreSynchronous = [
  Expect<Accepts<OpenInterceptor, (headers: Metadata, payload: unknown) => void>>,
  Expect<Accepts<OpenInterceptor, () => undefined>>,
  Refuse<Accepts<OpenInterceptor, () => Promise<void>>>,
  Refuse<Accepts<OpenInterceptor, () => PromiseLike<void>>>,
  Refuse<Accepts<ReplyHeadersInterceptor, (headers: Metadata, stream: Stream) => Promise<void>>>,
  Refuse<Accepts<IncomingHeadersInterceptor, (headers: Readonly<Metadata>, stream: Stream) => Promise<void>>>,
];

export type HandlersNameWhatTheyGet = [
  Expect<Equal<Parameters<StreamHandler>, [payload: unknown, stream: Stream]>>,
  Expect<Accepts<StreamHandler, (question: Question, stream: Stream<number, string>) => Promise<void>>>,
  Expect<Accepts<StreamHandler, () => void>>,
  Refuse<Accepts<StreamHandler, (payload: unknown, stream: Stream, more: number) => void>>,
  Expect<Accepts<Hello['onReply'], (reply: Question) => void>>,
  Refuse<Accepts<Hello['onReply'], (reply: unknown, stream: Stream, more: number) => void>>,
  Expect<Accepts<ErrorSerializer, (error: unknown) => { readonly message: string }>>,
];
