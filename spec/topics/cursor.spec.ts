import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import { memoryBus, memoryLog, presence, room } from '../../src/topics.js';
import { newEpoch, numberOf } from '../../src/topics/cursor.js';
import { otherPlatform } from '../support/platform/globals.js';

const SOURCES = join(__dirname, '../../src');
const platform = otherPlatform();

afterEach(() => {
  jest.restoreAllMocks();
});

describe('epochs', () => {
  it('No cursor and no report depends on `Math.random`', async () => {
    const random = jest.spyOn(Math, 'random');
    const bus = memoryBus();
    const ask = firstValueFrom(bus.on('presence:presence'));
    const observing = presence(bus).members$('lobby').subscribe();
    await memoryLog().publish('a');
    await firstValueFrom(from(room(bus, 'typing').head()));
    await ask;
    observing.unsubscribe();
    expect(random).not.toHaveBeenCalled();
  });

  it('Each epoch begins cursors of its own, also on a platform without `crypto`', () => {
    const epochs = Array.from({ length: 100 }, newEpoch);
    platform({ crypto: undefined });
    epochs.push(...Array.from({ length: 100 }, newEpoch));
    expect(new Set(epochs).size).toBe(200);
    expect(epochs.map((epoch) => numberOf(`${epoch}:7`))).toEqual(epochs.map(() => 7));
  });

  it('Sources use `Math.random` for jitter, and without `crypto`', () => {
    const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name));
    const users = files.filter((file) => /\bMath\.random\b/.test(readFileSync(file, 'utf8').replace(/^ *\*.*$/gm, '')));
    expect(users.map((file) => relative(SOURCES, file)).sort()).toEqual(['peer/dial/backoff.ts', 'peer/safe-retry.ts', 'util/random.ts']);
  });
});
