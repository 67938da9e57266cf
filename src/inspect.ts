/* Recordings */
export { Omitted } from './inspect/json-values.js';
export { describeLine, readLine, withoutPayload, writeLine } from './inspect/recording.js';
export type { Line, RecordedFrame } from './inspect/recording.js';
export { VERSION } from './version.js';
