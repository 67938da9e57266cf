/**
 * Hooks for React: the value, error and status of a stream in a component.
 *
 * @example
 * ```ts
 * import { MuxProvider, useStream } from 'rxmux/react';
 * ```
 *
 * @module rxmux/react
 */
'use client';

export { MuxProvider, useMux, useMuxStatus } from './react/mux.js';
export type { MuxProviderProps } from './react/mux.js';
export { useStream } from './react/use-stream.js';
export type { UseStreamOptions } from './react/use-stream.js';
export type { StreamState, StreamStatus } from './react/stream-state.js';
export { VERSION } from './version.js';
