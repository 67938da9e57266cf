import { isArrayBuffer } from './cross-realm.js';

/** Describes a value of the remote for an error message. It never shows a text: that may be an application's secret, and megabytes long. */
export function describeReceived(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (isArrayBuffer(value) || ArrayBuffer.isView(value)) return 'bytes';
  if (value === undefined) return 'nothing';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
