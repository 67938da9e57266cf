import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { VERSION as VERSION_OF_RICH } from '../src/rich.js';
import { VERSION as VERSION_OF_MSGPACK } from '../src/msgpack.js';
import { VERSION } from '../src/version.js';

describe('VERSION', () => {
  it('VERSION equals the version in the manifest', () => {
    const manifest = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(manifest.version);
  });

  it('VERSION has three components', () => {
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('VERSION is the same at the msgpack entry point', () => {
    expect(VERSION_OF_MSGPACK).toBe(VERSION);
  });

  it('VERSION is the same at the rich entry point', () => {
    expect(VERSION_OF_RICH).toBe(VERSION);
  });
});
