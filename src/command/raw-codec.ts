import { toMapping } from 'rxmux';

/** The map of a frame, as a codec reads it. */
export type Envelope = Readonly<Record<string, unknown>>;

/** Writes and reads messages as they are. It checks nothing, so that a row can send what no sender writes. */
export interface RawCodec {
  readonly name: string;
  readonly binary: boolean;
  encode(value: unknown): string | Uint8Array;
  decode(message: string | Uint8Array): unknown;
  /** Joins the fragments of a payload and decodes it. */
  join(fragments: readonly (string | Uint8Array)[]): unknown;
}

const JSON_CODEC: RawCodec = {
  name: 'json',
  binary: false,
  encode: (value) => JSON.stringify(value),
  decode: (message) => JSON.parse(String(message)) as unknown,
  join: (fragments) => JSON.parse(fragments.join('')) as unknown,
};

/** Returns a codec by its name. `null` for another name, and for msgpack where @msgpack/msgpack is not installed. */
export async function rawCodec(name: string): Promise<RawCodec | null> {
  if (name === 'json') return JSON_CODEC;
  if (name === 'rich') return rich();
  return name === 'msgpack' ? msgpack() : null;
}

/** Levels of nesting in a message, beyond which to show it would overflow the stack. */
const MAX_DEPTH = 1_000;

/** Reads a message. `null` for one of the wrong kind, for one that does not decode or is nested too deep, and for one that is no map. */
export function envelopeOf(codec: RawCodec, message: Buffer, isBinary: boolean): Envelope | null {
  if (isBinary !== codec.binary) return null;
  try {
    const value = codec.decode(isBinary ? message : message.toString());
    return isEnvelope(value) && isWithin(value, MAX_DEPTH) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a decoded message is a map. */
export function isEnvelope(value: unknown): value is Envelope {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  return depth > 0 && Object.values(value).every((inner) => isWithin(inner, depth - 1));
}

/** Reads the values of frames, as a recording has them. It writes JSON with tags as they are. */
async function rich(): Promise<RawCodec> {
  const codec = new (await import('rxmux/rich')).RichCodec();
  return {
    ...JSON_CODEC,
    name: 'rich',
    decode(message) {
      const envelope = JSON_CODEC.decode(message) as Envelope;
      try {
        return { ...envelope, ...toMapping(codec.decode(message as string)) };
      } catch {
        return envelope;
      }
    },
  };
}

async function msgpack(): Promise<RawCodec | null> {
  const library = await import('@msgpack/msgpack').catch(() => null);
  if (library === null) return null;
  const decode = (message: string | Uint8Array): unknown => library.decode(message as Uint8Array);
  return {
    name: 'msgpack',
    binary: true,
    encode: (value) => library.encode(value, { maxDepth: MAX_DEPTH }),
    decode,
    join: (fragments) => decode(Buffer.concat(fragments as readonly Uint8Array[])),
  };
}
