/**
 * A log and a bus for the processes and threads of one machine, without a broker: for development, and for a server of one machine.
 *
 * @example
 * ```ts
 * import { ipcBus, ipcLog } from 'rxmux/ipc';
 * ```
 *
 * @module rxmux/ipc
 */
export { ipcBus } from './ipc/ipc-bus.js';
export { ipcLog } from './ipc/ipc-log.js';
export type { MemoryLogOptions } from './topics/memory.js';
export { VERSION } from './version.js';
