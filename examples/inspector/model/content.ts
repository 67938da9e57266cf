import { Omitted } from 'rxmux/inspect';
import type { Marble } from './marble.js';

/** Returns the length of a text or of bytes; for another value, the length of its JSON. Absent content has none. */
export function sizeOf(content: unknown): number {
  if (content === undefined) return 0;
  if (content instanceof Omitted) return content.size;
  if (typeof content === 'string') return content.length;
  if (isBytes(content)) return content.byteLength;
  return textOf(content).length;
}

/** Returns a value as text, for a person and for the filter. */
export function textOf(content: unknown): string {
  if (content === undefined || content instanceof Omitted) return '';
  if (isBytes(content)) return `${content.byteLength} bytes`;
  return JSON.stringify(content, readable);
}

function readable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)];
  return isBytes(value) ? `${value.byteLength} bytes` : value;
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

const LONGEST_TEXT = 400;
/** The page shows a text eight times a second, and a payload may be large. */
const texts = new WeakMap<Marble, string>();

/** The payload, the slice or the reason of a frame, cut to a readable length. */
export function contentText(marble: Marble): string {
  let text = texts.get(marble);
  if (text === undefined) {
    const { f } = marble.line;
    const whole = textOf(f?.['payload'] ?? f?.['fragment'] ?? f?.['reason']);
    text = whole.length > LONGEST_TEXT ? `${whole.slice(0, LONGEST_TEXT)}…` : whole;
    texts.set(marble, text);
  }
  return text;
}

/** A feed sends a larger line without its payload. */
const LARGEST_BYTES = 2 * 1_048_576;

/** Says why a payload cannot be shown; empty for one that can, and for a frame without one. */
export function missingText({ line: { f }, bytes }: Marble, isLive: boolean): string {
  if (f?.['payload'] instanceof Omitted) return `payload not recorded: ${isLive ? whyOmitted(bytes) : 'the recording has its size alone'}`;
  return f?.['fragment'] instanceof Omitted ? 'slice not recorded' : '';
}

function whyOmitted(bytes: number): string {
  return bytes > LARGEST_BYTES ? 'it is larger than 2 MiB' : 'payloads were hidden when it passed';
}
