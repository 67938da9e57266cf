import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { createPair } from '../support/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const page = loadRecipes() as Recipes;

/** Ids that count, as long as they are asked to be. */
function counting(): (bytes: number) => string {
  let count = 0;
  return (bytes) => (++count).toString(16).padStart(bytes * 2, '0');
}

/** What {@link counting} begins a trace with. */
const BEGUN = `00-${'1'.padStart(32, '0')}-${'2'.padStart(16, '0')}-01`;

describe('the trace context', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('goes through a peer to the next, and back to the caller', async () => {
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

  it('is kept where the caller has begun one, and none is begun once the hooks are removed', async () => {
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

  it('is that of a call that is passed on, which is made again where it was refused, and cancelled with the one that it is for', async () => {
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
    ['begins a trace where the parent makes no sense', '00-x-y-01', BEGUN],
    ['begins a trace where more follows than the flags', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00-x`, BEGUN],
    ['keeps the trace of its parent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, `00-${'a'.repeat(32)}-${'1'.padStart(16, '0')}-01`],
  ])('%s', (_, parent, expected) => {
    expect(page.childOf(parent, counting())).toBe(expected);
  });
});
