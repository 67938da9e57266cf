import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { offersFirst, PREFIX, subprotocol } from '../../src/wire/codec.js';

describe('Versioning rule 1: the subprotocol is mux.v1.<codec name>', () => {
  it.each([
    ['mux.v1.json', new JsonCodec()],
    ['mux.v1.msgpack', new MsgpackCodec()],
  ])('`subprotocol` returns %s', (name, codec) => {
    expect(subprotocol(codec)).toBe(name);
    expect(name.startsWith(PREFIX)).toBe(true);
  });
});

describe('Versioning rule 2: the acceptor requires that exact value in first place', () => {
  it.each([
    ['mux.v1.json', true],
    ['mux.v1.json, chat', true],
    [' mux.v1.json ,mux.v1.msgpack', true],
    ['mux.v1.msgpack, mux.v1.json', false],
    ['mux.v2.json', false],
    ['mux.v1.jsonx', false],
    ['MUX.v1.json', false],
    ['', false],
    [',mux.v1.json', false],
    [undefined, false],
  ])('`offersFirst` judges the offer %p', (offered, verdict) => {
    expect(offersFirst(offered, 'mux.v1.json')).toBe(verdict);
  });
});
