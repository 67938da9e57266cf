import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../../src/index.js';
import { guard } from '../../../src/peer/base/guard.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

// As those of native async functions are where zone.js has put its own in the place of Promise.
const foreign = (expression: string): Promise<never> => runInNewContext(`Promise.${expression}`) as Promise<never>;

const time = virtualPeerTime();
const logs = collectLogs();

describe('a promise of another realm', () => {
  it('that a hook gives is not awaited, and its rejection is logged', async () => {
    guard('a frame observer', () => foreign('reject(new Error("x"))'));
    await time.advance();
    expect(logs.errors).toEqual(['rxmux: a frame observer failed']);
  });

  it('of nothing, which a project gives, answers nothing', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => foreign('resolve(undefined)'))).subscribe();
    const seen: unknown[] = [];
    dialer
      .open$('x')
      .subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error), complete: () => seen.push('end') });
    await time.advance(10);
    expect(seen).toEqual(['end']);
  });

  it('that nobody takes may reject unseen', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
      return stream.sendAll(foreign('reject(new Error("x"))')).catch(() => undefined);
    });
    let error: unknown;
    dialer.open$('x').subscribe({ error: (given: unknown) => (error = given) });
    await time.advance(10);
    // A rejection that nobody handles fails the test by itself, at the end of a turn.
    await new Promise(setImmediate);
    expect(error).toMatchObject({ code: 'RESET', resetCode: 8 });
  });
});
