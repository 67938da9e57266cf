import { describe } from '@jest/globals';
import { JsonCodec } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { LINE_KINDS } from '../support/socket-lines.js';
import { holdsTheContract } from './contract.js';

describe.each(LINE_KINDS)('$name', (kind) => {
  describe.each([new JsonCodec(), new MsgpackCodec()])('with $name', (codec) => {
    holdsTheContract(kind, codec);
  });
});
