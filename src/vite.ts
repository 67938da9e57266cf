/**
 * A plugin of Vite that shows the inspector in development.
 *
 * @example
 * ```ts
 * import { rxmuxInspector } from 'rxmux/vite';
 * ```
 *
 * @module rxmux/vite
 */
export { rxmuxInspector } from './vite/plugin.js';
export type { RxmuxInspectorOptions, RxmuxInspectorPlugin } from './vite/plugin.js';
export { VERSION } from './version.js';
