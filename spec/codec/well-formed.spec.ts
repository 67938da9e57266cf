import { describe, expect, it } from '@jest/globals';
import { wellFormed, wellFormer } from '../../src/codec/plain-copy.js';

describe.each([
  ['natively', wellFormer(String.prototype)],
  ['without the platform', wellFormer({ length: 0 })],
  ['with the choice of this platform', wellFormed],
])('wellFormer: %s', (_how, well) => {
  it.each<[string, string]>([
    ['', ''],
    ['a😀b', 'a😀b'],
    ['\ud83d', '\ufffd'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['a\ud800b\udc00c', 'a\ufffdb\ufffdc'],
    ['\ud83d\ud83d\ude00', '\ufffd😀'],
    ['\ud83d\ude00\ude00', '😀\ufffd'],
  ])('%j', (text, expected) => {
    expect(well(text)).toBe(expected);
  });
});
