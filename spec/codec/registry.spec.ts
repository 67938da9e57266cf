import { afterEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { clearCodecs, getCodec, registerCodec, registeredCodecs } from '../../src/codec/registry.js';
import type { Codec } from '../../src/wire/codec.js';
import { CodecError, CodecNotRegistered } from '../../src/wire/errors.js';

afterEach(clearCodecs);

describe('codec registry', () => {
  it('The registry starts empty, because only the package entry point registers json', () => {
    expect(registeredCodecs()).toEqual([]);
  });

  it('`getCodec` returns the registered instance', () => {
    const codec = new JsonCodec();
    registerCodec('json', codec);
    expect(getCodec('json')).toBe(codec);
  });

  it('`registerCodec` accepts any name, even the empty one or one that differs from the codec’s name', () => {
    const codec = new JsonCodec();
    registerCodec('', codec);
    registerCodec('constructor', codec);
    expect([getCodec(''), getCodec('constructor')]).toEqual([codec, codec]);
  });

  it.each([
    ['a class', JsonCodec, 'codec: expected a codec, such as new JsonCodec(), got'],
    ['nothing', undefined, 'codec: expected a codec, such as new JsonCodec(), got'],
    ['a codec without a name', Object.assign(new JsonCodec(), { name: undefined }), 'got one without a name'],
  ])('`registerCodec` refuses %s and keeps the earlier registration', (_what, given, message) => {
    const codec = new JsonCodec();
    registerCodec('json', codec);
    const register = (): void => {
      registerCodec('json', given as unknown as Codec);
    };
    expect(register).toThrow(TypeError);
    expect(register).toThrow(message);
    expect(getCodec('json')).toBe(codec);
  });

  it('`registerCodec` refuses a name that is not a string, such as a codec as the only argument', () => {
    const register = (): void => {
      registerCodec(new JsonCodec() as unknown as string, undefined as unknown as Codec);
    };
    expect(register).toThrow(new TypeError('registerCodec: expected a name, such as json, got an object'));
  });

  it('`registerCodec` replaces a registration silently', () => {
    const second = new JsonCodec();
    registerCodec('json', new JsonCodec());
    registerCodec('json', second);
    expect([getCodec('json'), registeredCodecs()]).toEqual([second, ['json']]);
    expect(getCodec('json')).toBe(second);
  });

  it('`registeredCodecs` returns the sorted names in a new array each time', () => {
    const codec = new JsonCodec();
    for (const name of ['msgpack', 'json', 'Z', 'cbor']) registerCodec(name, codec);
    const names = registeredCodecs();
    expect(names).toEqual(['Z', 'cbor', 'json', 'msgpack']);
    names.length = 0;
    expect(registeredCodecs()).toHaveLength(4);
  });

  it.each(['msgpack', 'JSON', '', '__proto__', 'toString'])(
    "`getCodec` throws CodecNotRegistered for '%s' and does not fall back to json",
    (name) => {
      registerCodec('json', new JsonCodec());
      registerCodec('cbor', new JsonCodec());
      const lookup = (): unknown => getCodec(name);
      expect(lookup).toThrow(CodecNotRegistered);
      expect(lookup).toThrow(CodecError);
      expect(lookup).toThrow(expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', configured: name, available: ['cbor', 'json'] }));
      expect(lookup).toThrow(`no codec is registered under '${name}'`);
      expect(lookup).toThrow(/VITE_MUX_CODEC.*cbor, json/);
    },
  );

  it('`clearCodecs` removes every registration, including json', () => {
    registerCodec('json', new JsonCodec());
    clearCodecs();
    expect(registeredCodecs()).toEqual([]);
    expect(() => getCodec('json')).toThrow(expect.objectContaining({ available: [] }));
  });
});
