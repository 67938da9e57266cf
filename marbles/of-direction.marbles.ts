import { describe } from '@jest/globals';
import { ofDirection } from '../src/index.js';
import { narrows } from './support/narrowing.js';

describe('ofDirection', () => {
  narrows(ofDirection('rx'), [
    {
      does: 'is silent while no event comes',
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
      does: 'keeps every event of its direction, those of the connection too',
      events: '  -oOdDpq-(re)|',
      subs: '    ^-----------!',
      expected: '---dD-q-e---|',
    },
    {
      does: 'passes an error on',
      events: '  --d-o-#',
      subs: '    ^-----!',
      expected: '--d---#',
    },
    {
      does: 'lets go of the events when unsubscribed',
      events: '  --d-D-q-|',
      subs: '    ^----!',
      expected: '--d-D',
      unsub: '   -----!',
    },
  ]);
});
