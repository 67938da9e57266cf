import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  Codec,
  ConnectOptions,
  DecodeLimits,
  Frame,
  Message,
  Peer,
  PeerContext,
  PeerStatus,
  Rate,
  SocketLike,
} from '../../src/index.js';
import type { assemble, connect } from '../../src/index.js';
import type { MsgpackCodec } from '../../src/msgpack.js';
import type { RichCodec } from '../../src/rich.js';
import type { MuxServer, ServeOptions, Verdict } from '../../src/node.js';
import type { connect as connectNode } from '../../src/node.js';
import type { Link, Pair, PairOptions, TestServer } from '../../src/testing.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

declare module '../../src/index.js' {
  interface PeerContext {
    readonly user?: string;
  }
}

export type Connecting = [
  Expect<Equal<ReturnType<typeof connect>, Peer>>,
  Expect<Equal<ReturnType<typeof connectNode>, Peer>>,
  Expect<Accepts<Parameters<typeof connectNode>[1], ConnectOptions>>,
  Expect<Accepts<Parameters<typeof connect>[0], () => Promise<URL>>>,
  Expect<Accepts<SocketLike, WebSocket>>,
  Expect<Accepts<ConnectOptions['socket'], TestServer['socket']>>,
];

export type Disposable = [Expect<Accepts<AsyncDisposable, Peer>>, Expect<Accepts<AsyncDisposable, MuxServer>>];

export type Serving = [
  Expect<Accepts<ServeOptions, { readonly port: number }>>,
  Refuse<Accepts<ServeOptions, { readonly path: string }>>,
  Expect<Accepts<ServeOptions, { readonly port: number; readonly server: undefined }>>,
  Expect<Accepts<ServeOptions, { readonly port: undefined; readonly server: HttpServer }>>,
  Refuse<Accepts<ServeOptions, { readonly port: number; readonly server: HttpServer }>>,
  Expect<Equal<MuxServer['listening'], Promise<AddressInfo>>>,
  Expect<Equal<MuxServer['url'], string>>,
  Expect<Accepts<Verdict, { readonly user: string }>>,
  Expect<Accepts<Verdict, 401>>,
  Refuse<Accepts<Verdict, 404>>,
  Expect<Equal<PeerContext['user'], string | undefined>>,
];

interface MaybeLimits {
  readonly maxStreams: number | undefined;
  readonly junk: Rate | undefined;
}

export type LimitsMayBeUndefined = [
  Expect<Accepts<ConnectOptions['limits'], MaybeLimits>>,
  Expect<Accepts<ServeOptions['limits'], MaybeLimits>>,
  Expect<Accepts<PairOptions['limits'], MaybeLimits>>,
  Expect<Accepts<Parameters<typeof assemble>[1], MaybeLimits>>,
  Refuse<Accepts<ConnectOptions['limits'], { readonly maxStreams: string }>>,
  Refuse<Accepts<ConnectOptions['limits'], { readonly junk: { readonly burst: number } }>>,
  Expect<Accepts<Parameters<Link['cut']>[0], { readonly code: number | undefined; readonly reason: undefined }>>,
];

export type Others = [
  Expect<Accepts<Codec, MsgpackCodec>>,
  Expect<Accepts<Codec, RichCodec>>,
  Expect<Accepts<Codec['decode'], (message: Message) => Frame>>,
  Expect<Equal<Parameters<Codec['decode']>[1], DecodeLimits | undefined>>,
  Expect<Equal<ConstructorParameters<typeof MsgpackCodec>, []>>,
  Expect<Equal<ReturnType<MsgpackCodec['encode']>, ArrayBuffer>>,
  Expect<Equal<Pair['dialer'], Peer>>,
  Expect<Equal<Parameters<TestServer['refuse']>, [status: number | null]>>,
  Expect<Equal<Extract<PeerStatus, { readonly state: 'waiting' }>['delayMs'], number>>,
];
