/** Every adapter. The file is separate, because a program that loads the adapters needs all libraries installed. */
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

/** The adapters that need only packages that the project itself installs. */
export const OWN_ADAPTERS: readonly AdapterName[] = ['floor-a', 'floor-b', 'bare-wire', 'rxmux-json', 'rxmux-msgpack'];

/** The adapters whose requests carry headers. The others leave them out. */
export const WITH_HEADERS: readonly AdapterName[] = ['floor-a', 'floor-b', 'rxmux-json', 'rxmux-msgpack'];

/** The adapters that publish one value to many subscribers. The floors encode it once. */
export const WITH_FEED: readonly AdapterName[] = ['floor-a', 'floor-b', 'rxmux-json', 'rxmux-msgpack', 'socket.io', 'graphql-ws'];

/** The adapters that answer a stream in several ways, and the reference. */
export const ANSWERING: readonly AdapterName[] = ['floor-a', 'rxmux-json', 'rxmux-msgpack'];

/** Every ratio is to this adapter. */
export const REFERENCE: AdapterName = 'floor-a';
