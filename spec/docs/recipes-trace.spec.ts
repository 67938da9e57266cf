import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { createPair } from '../support/peer/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const page = loadRecipes() as Recipes;

/** Returns a maker of ids that count up, padded to the requested length. */
function counting(): (bytes: number) => string {
  let count = 0;
  return (bytes) => (++count).toString(16).padStart(bytes * 2, '0');
}

/** The first trace that {@link counting} begins. */
const BEGUN = `00-${'1'.padStart(32, '0')}-${'2'.padStart(16, '0')}-01`;

describe('trace context', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('A trace goes through a proxy to the next peer, and back to the caller', async () => {
    const front = createPair();
    const back = createPair();
    const newId = counting();
    const seen: unknown[] = [];
    page.trace(front.dialer, newId);
    page.trace(front.acceptor, newId);
    front.acceptor.onStream(page.forward(back.dialer, newId));
    back.acceptor.onStream((payload, stream) => {
      seen.push(stream.headers['traceparent']);
      return stream.reply(payload);
    });
    let told: unknown;
    const answer = front.dialer.request('x', {
      onOpen: (stream) => stream.replyHeaders$.subscribe((headers) => (told = headers['traceparent'])),
    });
    await time.advance();
    expect(await answer).toBe('x');
    const trace = '1'.padStart(32, '0');
    expect(seen).toEqual([`00-${trace}-${'3'.padStart(16, '0')}-01`]);
    expect(told).toBe(`00-${trace}-${'4'.padStart(16, '0')}-01`);
  });

  it('The hooks keep the trace of a caller, and begin no trace once they are removed', async () => {
    const { dialer, acceptor } = createPair();
    const remove = page.trace(dialer, counting());
    acceptor.onStream((_, stream) => stream.reply(stream.headers));
    const headers = { traceparent: 'of the caller' };
    const kept = dialer.request('x', { headers });
    remove();
    const bare = dialer.request('x');
    await time.advance();
    expect(await Promise.all([kept, bare])).toEqual([headers, {}]);
  });

  it('`forward` keeps the trace of a proxied call through a retry and a cancel', async () => {
    const [front, back] = [createPair(), createPair()];
    front.acceptor.onStream(page.forward(back.dialer, counting()));
    const causes: unknown[] = [];
    back.acceptor.onStream((payload, stream) => {
      void stream.closed.then(() => causes.push(stream.cause));
      if (causes.length === 0) stream.reset(ResetCode.REFUSED, 'busy');
      else return payload === 'waits' ? stream.closed : stream.reply(payload);
      return undefined;
    });
    const answer = front.dialer.request('x');
    await time.advance(1_000);
    expect(await answer).toBe('x');
    const left = front.dialer.request$('waits').subscribe();
    await time.advance();
    left.unsubscribe();
    await time.advance();
    expect(causes.at(-1)).toMatchObject({ how: 'reset', by: 'remote', code: ResetCode.CANCEL });
  });

  it.each([
    ['begins a trace without a parent', undefined, BEGUN],
    ['begins a trace for an invalid parent', '00-x-y-01', BEGUN],
    ['begins a trace for a parent with more than its flags', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00-x`, BEGUN],
    ['keeps the trace of its parent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, `00-${'a'.repeat(32)}-${'1'.padStart(16, '0')}-01`],
  ])('`childOf` %s', (_, parent, expected) => {
    expect(page.childOf(parent, counting())).toBe(expected);
  });
});
