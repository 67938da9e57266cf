import { expect, it } from '@jest/globals';
import { assemble, decode, encode, fragment } from '../../src/index.js';
import type { Codec } from '../../src/index.js';

it.each<[what: string, make: (codec: Codec) => unknown]>([
  ['decode', decode],
  ['encode', encode],
  ['assemble', assemble],
  ['fragment', fragment],
])('%s throws for an invalid codec', (_what, make) => {
  expect(() => make('json' as unknown as Codec)).toThrow(new TypeError("codec: expected a codec, such as new JsonCodec(), got 'json'"));
  expect(() => make(null as unknown as Codec)).toThrow(new TypeError('codec: expected a codec, such as new JsonCodec(), got null'));
});
