import { describe, it } from '@jest/globals';
import { map } from 'rxjs';
import { encodeOnce } from '../src/index.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  readonly source: string;
  readonly subs: string;
  readonly expected: string;
  readonly unsub?: string;
}

describe('encodeOnce', () => {
  it.each<Row>([
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
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { source, subs, expected, unsub }) => {
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
