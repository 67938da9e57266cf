import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { growth, growthBetween } from './growth.js';

const folder = mkdtempSync(join(tmpdir(), 'growth-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the growth of a heap', () => {
  it("`growth` counts objects, and reports classes that grow by one in ten rounds, without the engine's own", () => {
    const before = [
      { name: 'Session', count: 1, bytes: 100 },
      { name: 'Timeout', count: 5, bytes: 50 },
      { name: '(code)', count: 10, bytes: 1_000 },
    ];
    const after = [
      { name: 'Session', count: 11, bytes: 1_100 },
      { name: 'Timeout', count: 3, bytes: 30 },
      { name: 'function heard', count: 9, bytes: 90 },
      { name: '(code)', count: 900, bytes: 90_000 },
      { name: 'system / Context', count: 500, bytes: 5_000 },
    ];
    expect(growth(before, after, 100)).toEqual({ objects: 10 - 2 + 9, classes: ['Session'] });
  });

  it('`growthBetween` reads two heap snapshots, and deletes their files', async () => {
    const meta = { node_fields: ['type', 'name', 'self_size'], node_types: [['object']] };
    const look = (name: string, rows: readonly number[][]): string => {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify({ snapshot: { meta }, nodes: rows.flat(), strings: ['Kept', 'Peer'] }));
      return file;
    };
    const peer = [0, 1, 80];
    const kept = [0, 0, 16];
    const looks = [look('before', [peer, kept]), look('after', [peer, kept, kept, kept])] as const;
    expect(await growthBetween(...looks, 20)).toEqual({ objects: 2, classes: ['Kept'] });
    expect(looks.filter((file) => existsSync(file))).toEqual([]);
  });
});
