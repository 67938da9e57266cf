import { markHandled } from '../util/check.js';

/** Names a stream for people, from the payload that it was opened with; an empty text names none. */
export type Label = (payload: unknown) => string;

/** Keys under which an operation often has its name, the first one found counts. */
const KEYS = ['op', 'type', 'method', 'name', 'event'];
const MAX_LENGTH = 100;

/**
 * The default label of a stream: the text `op`, `type`, `method`, `name` or `event` of an object, or the first item of an array. Any other
 * payload has an empty label.
 *
 * @example
 * ```ts
 * defaultLabel({ op: 'sum', of: [1, 2] });   // 'sum'
 * ```
 */
export function defaultLabel(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return '';
  const named = payload as Readonly<Record<string, unknown>>;
  const name = Array.isArray(payload) ? (payload[0] as unknown) : KEYS.map((key) => named[key]).find(isText);
  return isText(name) ? name : '';
}

/** Calls a label function, which may be the user's. An error and a result that is no text count as an empty text. Cuts to 100 characters. */
export function labelled(label: Label, payload: unknown): string {
  try {
    const text: unknown = label(payload);
    if (isText(text)) return text.slice(0, MAX_LENGTH);
    markHandled(text);
  } catch {
    // A faulty label names no stream.
  }
  return '';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
