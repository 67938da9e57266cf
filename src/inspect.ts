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
/* The form of a recording */
export { Omitted } from './inspect/json-values.js';
export { describeLine, readLine, readLines, withoutContent, writeLine } from './inspect/recording.js';
export type { Line, RecordedFrame } from './inspect/recording.js';

/* Feeds of an inspector */
export { defaultLabel } from './stream/label.js';
export { inspect } from './inspect/inspect.js';
export type { Inspection, InspectOptions } from './inspect/inspect.js';
export { answerInspector, inspectorFeed } from './inspect/over-mux.js';
export type { InspectorAnswerOptions } from './inspect/over-mux.js';
export type { PeersSource } from './peer/peers.js';
export type { InspectedPeer, InspectorBatch, InspectorFeed, InspectorLine } from './inspect/batch.js';

/* Recordings */
export { record } from './inspect/record.js';
export type { Recording, RecordOptions } from './inspect/record.js';
export { play } from './inspect/play.js';
export type { PlayOptions } from './inspect/play.js';
export type { RecordedSide } from './inspect/script.js';

export { VERSION } from './version.js';
