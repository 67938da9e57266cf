/**
 * Recordings of frames, as lines of JSON.
 *
 * @example
 * ```ts
 * import { readLine, writeLine } from 'rxmux/inspect';
 * ```
 *
 * @module rxmux/inspect
 */
/* Recordings */
export { Omitted } from './inspect/json-values.js';
export { describeLine, readLine, withoutPayload, writeLine } from './inspect/recording.js';
export type { Line, RecordedFrame } from './inspect/recording.js';

/* Feeds of an inspector */
export { inspect } from './inspect/inspect.js';
export type { Inspection, InspectOptions } from './inspect/inspect.js';
export { answerInspector, inspectorFeed } from './inspect/over-mux.js';
export type { InspectorAnswerOptions } from './inspect/over-mux.js';
export type { PeersSource } from './inspect/watch.js';
export type { InspectedPeer, InspectorBatch, InspectorFeed, InspectorLine } from './inspect/batch.js';
export { VERSION } from './version.js';
