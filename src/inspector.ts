/**
 * The inspector as a panel of a page: every stream as marbles, while they travel.
 *
 * @example
 * ```ts
 * import { showInspector } from 'rxmux/inspector';
 * ```
 *
 * @module rxmux/inspector
 */
export { showInspector } from './inspector/panel.js';
export type { InspectorPanel, ShowInspectorOptions } from './inspector/panel.js';
export type { InspectOptions } from './inspect/inspect.js';
export type { PeersSource } from './peer/peers.js';
export { VERSION } from './version.js';
