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

/**
 * Returns a codec by its name, or `null` if this machine does not have it.
 *
 * @throws TypeError for another name
 */
export async function rawCodec(name: string): Promise<RawCodec | null> {
  if (name === 'json') return JSON_CODEC;
  if (name === 'msgpack') return msgpack();
  throw new TypeError(`expected the codec json or msgpack, got '${name}'`);
}

async function msgpack(): Promise<RawCodec | null> {
  const library = await import('@msgpack/msgpack').catch(() => null);
  if (library === null) return null;
  const decode = (message: string | Uint8Array): unknown => library.decode(message as Uint8Array);
  return {
    name: 'msgpack',
    binary: true,
    encode: (value) => library.encode(value, { maxDepth: 1000 }),
    decode,
    join: (fragments) => decode(Buffer.concat(fragments as readonly Uint8Array[])),
  };
}
