'use client';

export { MuxProvider, useMux, useMuxStatus } from './react/mux.js';
export type { MuxProviderProps } from './react/mux.js';
export { useStream } from './react/use-stream.js';
export type { UseStreamOptions } from './react/use-stream.js';
export type { StreamState, StreamStatus } from './react/stream-state.js';
export { VERSION } from './version.js';
