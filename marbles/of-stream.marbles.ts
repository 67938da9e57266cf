import { describe } from '@jest/globals';
import { ofStream } from '../src/index.js';
import { narrows } from './support/narrowing.js';

describe('ofStream', () => {
  narrows('ofStream', ofStream(3), [
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
      does: 'keeps the one event of its stream',
      events: '  --o-O-d-|',
      subs: '    ^-------!',
      expected: '----O---|',
    },
    {
      does: 'keeps every event of its stream, and no event of the connection',
      events: '  -oOdDpqD-(rD)|',
      subs: '    ^------------!',
      expected: '--O-D--D-D---|',
    },
    {
      does: 'emits late events after the end of its stream',
      events: '  -O-D-e-r-|',
      subs: '    ^--------!',
      expected: '-O-D-----|',
    },
    {
      does: 'passes on an error',
      events: '  --O-o-#',
      subs: '    ^-----!',
      expected: '--O---#',
    },
    {
      does: 'unsubscribes from the events when it is unsubscribed',
      events: '  --O-D-D-|',
      subs: '    ^----!',
      expected: '--O-D',
      unsub: '   -----!',
    },
  ]);
});
