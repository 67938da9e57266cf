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
export { useCall } from './react/use-call.js';
export type { UsedCall } from './react/use-call.js';
export { useStream } from './react/use-stream.js';
export type { UseStreamOptions } from './store/stream-store.js';
export { useSuspenseStream } from './react/use-suspense-stream.js';
export type { SuspenseStreamState } from './react/use-suspense-stream.js';
export type { CallActions, CallState, FailureOf, UseCallOptions } from './store/call-store.js';
export type { StreamState, StreamStatus } from './store/stream-state.js';
export { VERSION } from './version.js';
