/**
 * OpenTelemetry: spans, metrics, and context in headers. It needs the package `@opentelemetry/api`.
 *
 * @example
 * ```ts
 * import { instrument } from 'rxmux/otel';
 * ```
 *
 * @module rxmux/otel
 */
export { instrument } from './otel/instrument.js';
export type { InstrumentOptions } from './otel/instruments.js';
export type { PeersSource } from './peer/peers.js';
export { VERSION } from './version.js';
