import { Omitted } from 'rxmux/inspect';

/** Returns the length of a text or of bytes; for another value, the length of its JSON. Absent content has none. */
export function sizeOf(content: unknown): number {
  if (content === undefined) return 0;
  if (content instanceof Omitted) return content.size;
  if (typeof content === 'string') return content.length;
  if (content instanceof Uint8Array || content instanceof ArrayBuffer) return content.byteLength;
  return textOf(content).length;
}

/** Returns a value as text, for a person and for the filter. */
export function textOf(content: unknown): string {
  if (content === undefined || content instanceof Omitted) return '';
  if (content instanceof Uint8Array) return `${content.length} bytes`;
  return JSON.stringify(content, readable);
}

function readable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? `${value.length} bytes` : value;
}
