import { describe } from '@jest/globals';
import { ofDirection } from '../src/index.js';
import { narrows } from './support/narrowing.js';

describe('ofDirection', () => {
  narrows('ofDirection', ofDirection('rx'), [
    {
      does: 'emits nothing while no event comes',
      events: '  ---------',
      subs: '    ^--------',
      expected: '---------',
    },
    {
      does: 'completes with the events',
      events: '  ----|',
      subs: '    ^---!',
      expected: '----|',
    },
    {
      does: 'keeps the one event of its direction',
      events: '  --o-d-p-|',
      subs: '    ^-------!',
      expected: '----d---|',
    },
    {
      does: "keeps every event of its direction, also the connection's events",
      events: '  -oOdDpq-(re)|',
      subs: '    ^-----------!',
      expected: '---dD-q-e---|',
    },
    {
      does: 'passes on an error',
      events: '  --d-o-#',
      subs: '    ^-----!',
      expected: '--d---#',
    },
    {
      does: 'unsubscribes from the events when it is unsubscribed',
      events: '  --d-D-q-|',
      subs: '    ^----!',
      expected: '--d-D',
      unsub: '   -----!',
    },
  ]);
});
