/** The header of an open that says how long its caller waits, in ms. */
export const TIMEOUT_HEADER = 'timeoutMs';

/** A contract opens a stream with the name of a procedure, and a value where there is one. */
export type Opened = readonly [name: string, value?: unknown];

/** The payload of an open. A name in the payload costs less than a name in a header. */
export function opening(name: string, value: unknown): Opened {
  return value === undefined ? [name] : [name, value];
}

/** Whether a contract opened a stream. */
export function isCall(payload: unknown): payload is Opened {
  return Array.isArray(payload) && typeof payload[0] === 'string' && payload.length <= 2;
}
