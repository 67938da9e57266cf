import { build } from 'esbuild';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rxmuxAsBuilt } from '../harness/built.js';
import { ROOT } from '../harness/place.js';

/** The smallest client of one library for a browser. */
export interface Bundle {
  readonly name: string;
  readonly source: string;
  /** Packages that are left out, because they are not the library's own code. */
  readonly without?: readonly string[];
}

export interface BundleSize {
  readonly name: string;
  readonly min: number;
  readonly gzip: number;
}

const CALLS = 'peer.request(1).then(console.log); peer.open$(2).subscribe(console.log);';
const RXMUX = `import { connect } from 'rxmux'; const peer = connect('ws://x', { reconnect: true }); ${CALLS}`;
const MSGPACK = `import { connect } from 'rxmux'; import { MsgpackCodec } from 'rxmux/msgpack'; connect('ws://x', { codec: new MsgpackCodec() }).open$(2).subscribe(console.log);`;

const BUNDLES: readonly Bundle[] = [
  { name: 'rxmux, without rxjs', source: RXMUX, without: ['rxjs'] },
  { name: 'rxmux', source: RXMUX },
  { name: 'rxmux, msgpack, without rxjs and @msgpack/msgpack', source: MSGPACK, without: ['rxjs', '@msgpack/msgpack'] },
  { name: 'rxmux, msgpack', source: MSGPACK },
  {
    name: 'rxjs alone: Observable, Subject, firstValueFrom',
    source: `import { firstValueFrom, Observable, Subject } from 'rxjs'; console.log(firstValueFrom, Observable, Subject);`,
  },
  {
    name: 'rxjs webSocket().multiplex',
    source: `import { webSocket } from 'rxjs/webSocket'; webSocket('ws://x').multiplex(() => 1, () => 2, () => true).subscribe(console.log);`,
  },
  {
    name: 'rsocket',
    source: `import { RSocketClient, JsonSerializers } from 'rsocket-core'; import Client from 'rsocket-websocket-client'; console.log(RSocketClient, JsonSerializers, Client);`,
  },
  { name: 'socket.io-client', source: `import { io } from 'socket.io-client'; io('ws://x').emit('a', 1, console.log);` },
  {
    name: 'graphql-ws',
    source: `import { createClient } from 'graphql-ws'; createClient({ url: 'ws://x' }).subscribe({ query: '' }, console);`,
  },
  {
    name: 'tRPC wsLink',
    source: `import { createTRPCClient, createWSClient, wsLink } from '@trpc/client'; createTRPCClient({ links: [wsLink({ client: createWSClient({ url: 'ws://x' }) })] });`,
  },
  { name: 'capnweb', source: `import { newWebSocketRpcSession } from 'capnweb'; newWebSocketRpcSession('ws://x').a().then(console.log);` },
];

/** Bundles each client as a page would get it, minified, and compresses it. */
export async function bundleSizes(names: (name: string) => boolean = () => true): Promise<BundleSize[]> {
  return Promise.all(BUNDLES.filter(({ name }) => names(name)).map(size));
}

async function size({ name, source, without = [] }: Bundle): Promise<BundleSize> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: join(ROOT, 'bench') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: [...without],
    logLevel: 'error',
    plugins: [rxmuxAsBuilt],
  });
  const contents = outputFiles[0]?.contents ?? new Uint8Array();
  return { name, min: contents.length, gzip: gzipSync(contents, { level: 9 }).length };
}
