import { expect, it } from '@jest/globals';
import { assemble, decode, encode, fragment } from '../../src/index.js';
import type { Codec } from '../../src/index.js';

it.each<readonly [name: string, operator: (codec: Codec) => unknown]>([
  ['decode', decode],
  ['encode', encode],
  ['fragment', fragment],
  ['assemble', assemble],
])('%s refuses the name of a codec in its place, at once', (_name, operator) => {
  expect(() => operator('json' as unknown as Codec)).toThrow(new TypeError("codec: expected a codec, such as new JsonCodec(), got 'json'"));
});
