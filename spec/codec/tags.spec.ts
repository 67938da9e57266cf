import { expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { Assembler } from '../../src/wire/reassembly.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import { Reassembly } from '../../src/wire/reassembly.js';

// Vue wraps each object with the tag of a plain one in a Proxy, which has no private fields and another identity.
it.each<[tag: string, object: object]>([
  ['Assembler', new Assembler()],
  ['JsonCodec', new JsonCodec()],
  ['MsgpackCodec', new MsgpackCodec()],
  ['Reassembly', new Reassembly(new JsonCodec(), DEFAULT_LIMITS)],
])('The tag of an object is %s, so it does not pass for a plain object', (tag, object) => {
  expect(Object.prototype.toString.call(object)).toBe(`[object ${tag}]`);
});
