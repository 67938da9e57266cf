import type { AdapterName } from './adapter-names.js';
import type { Adapter } from './adapter.js';

/** Every adapter, loaded in the processes that run it alone. */
const adapters = {
  'floor-a': () => import('../adapters/floor-a.js'),
  'floor-b': () => import('../adapters/floor-b.js'),
  'bare-wire': () => import('../adapters/bare-wire.js'),
  'rxmux-json': () => import('../adapters/rxmux-json.js'),
  'rxmux-msgpack': () => import('../adapters/rxmux-msgpack.js'),
  ws: () => import('../adapters/ws.js'),
  rsocket: () => import('../adapters/peers/rsocket.js'),
  'socket.io': () => import('../adapters/peers/socket-io.js'),
  'graphql-ws': () => import('../adapters/peers/graphql-ws.js'),
  trpc: () => import('../adapters/peers/trpc.js'),
  capnweb: () => import('../adapters/peers/capnweb.js'),
  'rxjs-websocket': () => import('../adapters/peers/rxjs-websocket.js'),
  http2: () => import('../adapters/http2.js'),
  'grpc-js': () => import('../adapters/peers/grpc-js.js'),
} satisfies Record<AdapterName, () => Promise<{ readonly adapter: Adapter }>>;

export async function loadAdapter(name: AdapterName): Promise<Adapter> {
  return (await adapters[name]()).adapter;
}
