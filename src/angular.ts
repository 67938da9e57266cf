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

export { injectPeer, injectStatus, MUX, provideMux } from './angular/mux.js';
export { muxResource } from './angular/mux-resource.js';
export type { MuxResource, MuxResourceOptions } from './angular/mux-resource.js';
export type { MuxResourceStatus } from './angular/resource-state.js';
export { VERSION } from './version.js';
