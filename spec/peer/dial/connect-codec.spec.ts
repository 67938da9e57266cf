import { afterEach, describe, expect, it } from '@jest/globals';
import { clearCodecs, JsonCodec, registerCodec, settings } from '../../../src/index.js';
import { MsgpackCodec } from '../../../src/msgpack.js';
import { dialing } from '../../support/peer/dialing.js';
import { Network } from '../../support/peer/network.js';

const call = () => '';
const CALLS = { encode: call, decode: call, encodePayload: call, decodePayload: call };

describe('Codec of `connect`', () => {
  afterEach(() => {
    clearCodecs();
    registerCodec('json', new JsonCodec());
    settings.reload();
  });

  it('`connect` throws CodecNotRegistered at once, before it opens a socket', () => {
    const network = new Network();
    settings.codec = 'cbor';
    expect(() => dialing(network)).toThrow(
      expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', configured: 'cbor', available: ['json'], retriable: false }),
    );
    clearCodecs();
    settings.codec = 'json';
    expect(() => dialing(network)).toThrow(expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', available: [] }));
    expect(network.dials).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a name', 'msgpack', "'msgpack'"],
    ['an object without methods', { name: 'json' }, 'an object'],
    ['a class', JsonCodec, 'a function'],
    ['a codec without a name', { ...CALLS, binary: false }, 'one without a name'],
    [
      'a codec whose methods are no functions',
      { name: 'n', binary: false, encode: 1, decode: 1, encodePayload: 1, decodePayload: 1 },
      'an object',
    ],
    ['a codec without `binary`', { ...CALLS, name: 'n' }, 'one without binary'],
  ])('`connect` throws a TypeError for %s, before it opens a socket', (_, given, got) => {
    const network = new Network();
    const codec = given as JsonCodec;
    expect(() => dialing(network, { codec })).toThrow(new TypeError(`codec: expected a codec, such as new JsonCodec(), got ${got}`));
    expect(network.dials).toEqual([]);
  });

  it.each([undefined, null])('`connect` uses the configured codec for %p', (codec) => {
    const network = new Network();
    expect(dialing(network, { codec: codec as undefined }).codec.name).toBe('json');
  });

  it('`connect` prefers an explicit codec to the configured one', () => {
    const network = new Network({ codec: new MsgpackCodec() });
    settings.codec = 'cbor';
    const codec = new MsgpackCodec();
    const peer = dialing(network, { codec });
    expect([peer.codec, network.last.protocol]).toEqual([codec, 'mux.v1.msgpack']);
  });

  it('`connect` reads the codec from the settings at every call', () => {
    const network = new Network();
    const binary = new MsgpackCodec();
    registerCodec('msgpack', binary);
    const protocols = ['json', 'msgpack', 'json'].map((name) => {
      settings.codec = name;
      dialing(network);
      return network.last.protocol;
    });
    expect(protocols).toEqual(['mux.v1.json', 'mux.v1.msgpack', 'mux.v1.json']);
  });
});
