/** Every adapter. A file of its own, because what loads them needs all peers to be installed. */
export const ADAPTER_NAMES = [
  'floor-a',
  'floor-b',
  'bare-wire',
  'rxmux-json',
  'rxmux-msgpack',
  'ws',
  'rsocket',
  'socket.io',
  'graphql-ws',
  'trpc',
  'capnweb',
  'rxjs-websocket',
  'http2',
  'grpc-js',
] as const;

export type AdapterName = (typeof ADAPTER_NAMES)[number];

/** Those that need nothing but what the project itself installs. */
export const OWN_ADAPTERS: readonly AdapterName[] = ['floor-a', 'floor-b', 'bare-wire', 'rxmux-json', 'rxmux-msgpack'];

/** What every ratio is to. */
export const REFERENCE: AdapterName = 'floor-a';
