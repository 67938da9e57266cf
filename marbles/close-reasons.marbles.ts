import { describe, it } from '@jest/globals';
import { map } from 'rxjs';
import { closeReasons } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  readonly peers: string;
  readonly subs: string;
  /** When the link of the first peer is cut, and when the link of the second is. */
  readonly cut1: string;
  readonly cut2: string;
  readonly expected: string;
  readonly unsub?: string;
}

describe('closeReasons', () => {
  it.each<Row>([
    {
      does: 'emits nothing without a peer',
      peers: '   ---------',
      subs: '    ^--------',
      cut1: '    -----x---',
      cut2: '    ---------',
      expected: '---------',
    },
    {
      does: 'completes when its source completes without a peer',
      peers: '   ----|',
      subs: '    ^---!',
      cut1: '    -----',
      cut2: '    -----',
      expected: '----|',
    },
    {
      does: 'emits why the socket of a peer has ended, and then completes',
      peers: '   --p--|   ',
      subs: '    ^----!   ',
      cut1: '    --------x',
      cut2: '    ---------',
      expected: '--------(p|)',
    },
    {
      does: 'emits the reasons of many peers, in the order in which the sockets end',
      peers: '   --p--q-----',
      subs: '    ^----------',
      cut1: '    ----------x',
      cut2: '    -------x---',
      expected: '-------q--p',
    },
    {
      does: 'emits nothing for a peer that had ended before',
      peers: '   --p----',
      subs: '    ^------',
      cut1: '    x------',
      cut2: '    -------',
      expected: '-------',
    },
    {
      does: 'passes on an error of its source',
      peers: '   --p--#',
      subs: '    ^----!',
      cut1: '    --------x',
      cut2: '    ---------',
      expected: '-----#',
    },
    {
      does: 'unsubscribes from its source and from the peers when it is unsubscribed',
      peers: '   --p--q----',
      subs: '    ^------!  ',
      cut1: '    ------x---',
      cut2: '    --------x-',
      expected: '------p',
      unsub: '   -------!',
    },
  ])(
    '`closeReasons` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { peers, subs, cut1, cut2, expected, unsub }) => {
      const p = createPair();
      const q = createPair();
      const peers$ = cold(peers, { p: p.dialer, q: q.dialer });
      cold(cut1).subscribe(() => p.link.cut({ code: 4001 }));
      cold(cut2).subscribe(() => q.link.cut({ code: 4002 }));
      const codes$ = peers$.pipe(
        closeReasons(),
        map(({ peer, reason }) => [peer === p.dialer ? 'p' : 'q', reason.code]),
      );
      expectObservable(codes$, unsub).toBe(expected, { p: ['p', 4001], q: ['q', 4002] });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`closeReasons` emits the whole reason',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer } = createPair();
      const peers$ = cold('-p----', { p: dialer });
      const close$ = cold('---x');
      const subs = '       ^';
      const expected = '   ---r';
      close$.subscribe(() => void dialer.close({ reason: 'done' }));
      expectObservable(
        peers$.pipe(
          closeReasons(),
          map(({ reason }) => reason),
        ),
      ).toBe(expected, {
        r: { code: 1000, reason: 'done', wasClean: true, willRetry: false },
      });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );
});
