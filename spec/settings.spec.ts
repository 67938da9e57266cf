import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { buildSync, transformSync } from 'esbuild';
import { readEnvCodec as readNoEnvCodec } from '../src/env-none.js';
import { Settings, settings } from '../src/settings.js';
import type * as settingsModule from '../src/settings.js';
import { setEnvCodec } from './support/platform/env.js';
import type * as envModule from './support/platform/env.js';

afterEach(() => {
  setEnvCodec(undefined);
  settings.reload();
});

describe('Settings', () => {
  it("Settings default to json in an empty environment, and print as Settings(codec='json')", () => {
    expect([settings.codec, String(settings)]).toEqual(['json', "Settings(codec='json')"]);
    expect(settings).toBeInstanceOf(Settings);
  });

  it.each(['msgpack', 'nothing registered', ''])("Settings read '%s' from the environment", (name) => {
    setEnvCodec(name);
    expect(new Settings().codec).toBe(name);
  });

  it.each(['msgpack', ''])("Settings accept the assignment of '%s'", (name) => {
    settings.codec = name;
    expect(String(settings)).toBe(`Settings(codec='${name}')`);
  });

  it('Settings do not see a later environment before reload', () => {
    setEnvCodec('msgpack');
    expect(settings.codec).toBe('json');
    settings.reload();
    expect(settings.codec).toBe('msgpack');
  });

  it('Settings discard an assignment at reload', () => {
    settings.codec = 'cbor';
    settings.reload();
    expect(settings.codec).toBe('json');
  });

  it('Settings read the environment once, at their first import', () => {
    jest.isolateModules(() => {
      const { setEnvCodec: set } = jest.requireActual<typeof envModule>('./support/platform/env.js');
      set('msgpack');
      expect(jest.requireActual<typeof settingsModule>('../src/settings.js').settings.codec).toBe('msgpack');
    });
  });
});

describe('the environment in a bundle', () => {
  const SOURCES = join(__dirname, '../src');

  function codecWhenBuilt(define: Record<string, string>): unknown {
    const { outputFiles } = buildSync({
      stdin: { contents: `import { settings } from './settings.js'; globalThis.codec = settings.codec;`, resolveDir: SOURCES },
      bundle: true,
      write: false,
      format: 'iife',
      logLevel: 'silent',
      define,
    });
    const scope: { codec?: unknown } = {};
    runInNewContext(outputFiles[0]?.text ?? '', scope);
    return scope.codec;
  }

  it.each<[string, Record<string, string>, string]>([
    ['uses the value that replaces the property', { 'import.meta.env.VITE_MUX_CODEC': '"msgpack"' }, 'msgpack'],
    ['uses the empty text', { 'import.meta.env.VITE_MUX_CODEC': '""' }, ''],
    ['uses the value from an env object', { 'import.meta.env': '{"VITE_MUX_CODEC":"cbor"}' }, 'cbor'],
    ['defaults to json for a value that is no string', { 'import.meta.env.VITE_MUX_CODEC': '5' }, 'json'],
    ['defaults to json without an env object', {}, 'json'],
    ['defaults to json when reading the environment throws', { 'import.meta.env': 'noSuchVariable' }, 'json'],
  ])('A bundle %s', (_title, define, codec) => {
    expect(codecWhenBuilt(define)).toBe(codec);
  });

  it('The module compiles to one access of the exact property, which bundlers replace', () => {
    const { code } = transformSync(readFileSync(join(SOURCES, 'env.ts'), 'utf8'), { loader: 'ts', target: 'es2022' });
    expect(code.match(/import\.meta.*?;/g)).toEqual(['import.meta.env?.VITE_MUX_CODEC;']);
  });

  it('The CommonJS build reads no environment', () => {
    expect(readNoEnvCodec()).toBeUndefined();
  });
});
