import { describe } from '@jest/globals';
import { ofType } from '../src/index.js';
import { narrows } from './support/narrowing.js';

describe('ofType of one type', () => {
  narrows('ofType', ofType('data'), [
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
      does: 'keeps the one event of its type',
      events: '  --o-d-p-|',
      subs: '    ^-------!',
      expected: '----d---|',
    },
    {
      does: 'keeps every event of its type, on every stream',
      events: '  -oOdDde-(rd)|',
      subs: '    ^-----------!',
      expected: '---dDde-d---|',
    },
    {
      does: 'passes on an error',
      events: '  --d-o-#',
      subs: '    ^-----!',
      expected: '--d---#',
    },
    {
      does: 'unsubscribes from the events when it is unsubscribed',
      events: '  --d-d-d-|',
      subs: '    ^----!',
      expected: '--d-d',
      unsub: '   -----!',
    },
  ]);
});

describe('ofType of several types', () => {
  narrows('ofType of several types', ofType('ping', 'pong', 'a later type'), [
    {
      does: 'keeps the events of each of its types',
      events: '  -op-dq-e-|',
      subs: '    ^--------!',
      expected: '--p--q---|',
    },
  ]);
});
