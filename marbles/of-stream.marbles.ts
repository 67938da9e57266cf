import { describe } from '@jest/globals';
import { ofStream } from '../src/index.js';
import { narrows } from './support/narrowing.js';

describe('ofStream', () => {
  narrows(ofStream(3), [
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
      does: 'keeps the one event of its stream',
      events: '  --o-O-d-|',
      subs: '    ^-------!',
      expected: '----O---|',
    },
    {
      does: 'keeps every event of its stream, and none of the connection',
      events: '  -oOdDpqD-(rD)|',
      subs: '    ^------------!',
      expected: '--O-D--D-D---|',
    },
    {
      does: 'goes on after the end of its stream',
      events: '  -O-D-e-r-|',
      subs: '    ^--------!',
      expected: '-O-D-----|',
    },
    {
      does: 'passes an error on',
      events: '  --O-o-#',
      subs: '    ^-----!',
      expected: '--O---#',
    },
    {
      does: 'lets go of the events when unsubscribed',
      events: '  --O-D-D-|',
      subs: '    ^----!',
      expected: '--O-D',
      unsub: '   -----!',
    },
  ]);
});
