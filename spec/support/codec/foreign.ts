import type { Codec, Message } from '../../../src/wire/codec.js';
import type { Frame } from '../../../src/wire/frame.js';
import { fromMapping, toMapping } from '../../../src/wire/mapping.js';

/** JSON in ASCII only, with `<` escaped as well: a fragment costs more bytes than a plain JSON string would. */
export class AsciiJsonCodec implements Codec {
  readonly name: string = 'ascii-json';
  readonly binary = false;

  encode(frame: Frame): string {
    return this.encodePayload(toMapping(frame));
  }

  decode(message: Message): Frame {
    return fromMapping(this.decodePayload(message));
  }

  encodePayload(payload: unknown): string {
    return JSON.stringify(payload).replace(/[<\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }

  decodePayload(data: Message): unknown {
    return JSON.parse(textOf(data));
  }
}

/** Writes `key:length:text` for each field and escapes nothing. The length grows by a digit now and then. */
export class NetstringCodec implements Codec {
  readonly name = 'netstring';
  readonly binary = false;

  encode(frame: Frame): string {
    return Object.entries(toMapping(frame))
      .map(([key, value]) => {
        const text = key === 'fragment' ? String(value) : key === 'payload' ? this.encodePayload(value) : JSON.stringify(value);
        return `${key}:${text.length}:${text}`;
      })
      .join('');
  }

  decode(message: Message): Frame {
    const mapping: Record<string, unknown> = {};
    for (let rest = textOf(message); rest !== '';) {
      const [key = '', length = ''] = rest.split(':', 2);
      const from = key.length + length.length + 2;
      const text = rest.slice(from, from + Number(length));
      mapping[key] = key === 'fragment' ? text : key === 'payload' ? this.decodePayload(text) : JSON.parse(text);
      rest = rest.slice(from + text.length);
    }
    return fromMapping(mapping);
  }

  encodePayload(payload: unknown): string {
    return typeof payload === 'string' ? `s${payload}` : `j${JSON.stringify(payload)}`;
  }

  decodePayload(data: Message): unknown {
    const text = textOf(data);
    return text.startsWith('s') ? text.slice(1) : JSON.parse(text.slice(1));
  }
}

/** Writes a JSON head, a NUL, and the payload or fragment as bytes. A fragment doubles every `}`, so a byte costs one or two. */
export class StuffedCodec implements Codec {
  readonly name = 'stuffed';
  readonly binary = true;

  encode(frame: Frame): ArrayBuffer {
    const { payload, fragment, ...head } = toMapping(frame);
    if (fragment instanceof ArrayBuffer) {
      const stuffed = [...new Uint8Array(fragment)].flatMap((byte) => (byte === STUFFED ? [byte, byte] : [byte]));
      return headAnd('fragment', head, stuffed);
    }
    if (payload === undefined) return headAnd('bare', head, []);
    return headAnd('payload', head, [...new Uint8Array(this.encodePayload(payload))]);
  }

  decode(message: Message): Frame {
    const bytes = bytesOf(message);
    const headEnd = bytes.indexOf(0);
    const { kind, head } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, headEnd))) as { kind: string; head: object };
    const body = bytes.slice(headEnd + 1);
    if (kind === 'bare') return fromMapping(head);
    if (kind === 'payload') return fromMapping({ ...head, payload: this.decodePayload(body.buffer) });
    const single = [...body].filter(
      (byte, at) => byte !== STUFFED || body.subarray(0, at).filter((before) => before === STUFFED).length % 2 === 0,
    );
    return fromMapping({ ...head, fragment: bufferOf(single) });
  }

  encodePayload(payload: unknown): ArrayBuffer {
    if (payload instanceof Uint8Array) return bufferOf([1, ...payload]);
    return bufferOf([2, ...new TextEncoder().encode(JSON.stringify(payload))]);
  }

  decodePayload(data: Message): unknown {
    const bytes = bytesOf(data);
    return bytes[0] === 1 ? bytes.slice(1) : JSON.parse(new TextDecoder().decode(bytes.subarray(1)));
  }
}

/** {@link AsciiJsonCodec}, which says what its fragments cost. */
export class CostedAsciiJsonCodec extends AsciiJsonCodec {
  fragmentCost(encodedPayload: Message, from: number, to: number): number {
    return this.encodePayload(textOf(encodedPayload).slice(from, to)).length - 2;
  }
}

/** {@link StuffedCodec}, which says what its fragments cost. */
export class CostedStuffedCodec extends StuffedCodec {
  fragmentCost(encodedPayload: Message, from: number, to: number): number {
    const slice = bytesOf(encodedPayload).subarray(from, to);
    return slice.length + slice.filter((byte) => byte === STUFFED).length;
  }
}

/** The same codec as an object of another class. It has no member but those that each codec has. */
export function disguised(codec: Codec): Codec {
  return {
    name: codec.name,
    binary: codec.binary,
    encode: (frame) => codec.encode(frame),
    decode: (message, limits) => codec.decode(message, limits),
    encodePayload: (payload) => codec.encodePayload(payload),
    decodePayload: (data, limits) => codec.decodePayload(data, limits),
  };
}

const STUFFED = 0x7d;

function headAnd(kind: string, head: object, body: readonly number[]): ArrayBuffer {
  return bufferOf([...new TextEncoder().encode(JSON.stringify({ kind, head })), 0, ...body]);
}

function textOf(message: Message): string {
  if (typeof message !== 'string') throw new TypeError('expected text');
  return message;
}

function bytesOf(message: Message): Uint8Array<ArrayBuffer> {
  if (typeof message === 'string') throw new TypeError('expected bytes');
  return new Uint8Array(message);
}

function bufferOf(bytes: readonly number[]): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
