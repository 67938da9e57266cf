import { ABSENT } from '../../wire/frame.js';

/** @throws TypeError for `undefined` and `ABSENT`, which mean no value */
export function checkValue(value: unknown): void {
  if (value === undefined || value === ABSENT) throw new TypeError(`expected a value to send, got ${String(value)}; null is a value`);
}
