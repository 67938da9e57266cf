import { describe, it } from '@jest/globals';
import { map } from 'rxjs';
import { encodeOnce } from '../src/index.js';
import { marbles } from './support/virtual.js';
import type { OperatorRow } from './support/virtual.js';

describe('encodeOnce', () => {
  it.each<OperatorRow>([
    {
      does: 'emits each value in its place, and completes with the source',
      source: '  -a-b--c|',
      subs: '    ^------!',
      expected: '-a-b--c|',
    },
    {
      does: 'fails with the source',
      source: '  -a-#',
      subs: '    ^--!',
      expected: '-a-#',
    },
    {
      does: 'leaves the source when its subscriber leaves',
      source: '  -a-b--c',
      unsub: '   ----!',
      subs: '    ^---!',
      expected: '-a-b',
    },
  ])(
    '`encodeOnce` $does',
    marbles<[OperatorRow]>(({ cold, expectObservable, expectSubscriptions }, { source, subs, expected, unsub }) => {
      const source$ = cold(source);
      expectObservable(
        source$.pipe(
          encodeOnce(),
          map(({ value }) => value),
        ),
        unsub,
      ).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );
});
