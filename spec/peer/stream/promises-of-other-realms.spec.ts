import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../../src/index.js';
import { guard } from '../../../src/rx/subscribers.js';
import { createPair } from '../../../src/testing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

// Native async functions return such promises when zone.js has replaced Promise.
const foreign = (expression: string): Promise<never> => runInNewContext(`Promise.${expression}`) as Promise<never>;

const time = virtualPeerTime();
const logs = collectLogs();

describe('Promise of another realm', () => {
  it('A promise of another realm that a hook returns is not awaited, and its rejection is logged', async () => {
    guard('a frame observer', () => foreign('reject(new Error("x"))'));
    await time.advance();
    expect(logs.errors).toEqual(['rxmux: a frame observer failed']);
  });

  it('A promise of another realm that resolves to undefined makes `respond` send an end only', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => foreign('resolve(undefined)'))).subscribe();
    const seen: unknown[] = [];
    dialer
      .open$('x')
      .subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error), complete: () => seen.push('end') });
    await time.advance(10);
    expect(seen).toEqual(['end']);
  });

  it('A promise of another realm that no stream takes may reject unseen', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
      return stream.sendAll(foreign('reject(new Error("x"))')).catch(() => undefined);
    });
    let error: unknown;
    dialer.open$('x').subscribe({ error: (given: unknown) => (error = given) });
    await time.advance(10);
    // An unhandled rejection would fail the test at the end of a turn.
    await new Promise(setImmediate);
    expect(error).toMatchObject({ code: 'RESET', resetCode: 8 });
  });
});
