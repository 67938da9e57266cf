/**
 * Providers for Angular, and a stream as signals.
 *
 * @example
 * ```ts
 * import { muxResource, provideMux } from 'rxmux/angular';
 * ```
 *
 * @module rxmux/angular
 */
import './index.js';

export { injectCall } from './angular/inject-call.js';
export type { InjectedCall } from './angular/inject-call.js';
export { injectPeer, injectStatus, MUX, provideMux } from './angular/mux.js';
export { muxResource } from './angular/mux-resource.js';
export type { InitialValue, MuxResource, MuxResourceOptions } from './angular/mux-resource.js';
export type { MuxResourceStatus } from './angular/resource-state.js';
export type { CallActions, CallState, FailureOf, UseCallOptions } from './store/call-store.js';
export { VERSION } from './version.js';
