import { describe, it } from '@jest/globals';
import { map } from 'rxjs';
import { closeReasons } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  readonly peers: string;
  readonly subs: string;
  /** When the socket of the first peer, and of the second, is cut. */
  readonly cut1: string;
  readonly cut2: string;
  readonly expected: string;
  readonly unsub?: string;
}

describe('closeReasons', () => {
  it.each<Row>([
    {
      does: 'waits for a peer',
      peers: '   ---------',
      subs: '    ^--------',
      cut1: '    -----x---',
      cut2: '    ---------',
      expected: '---------',
    },
    {
      does: 'completes without a peer',
      peers: '   ----|',
      subs: '    ^---!',
      cut1: '    -----',
      cut2: '    -----',
      expected: '----|',
    },
    {
      does: 'tells why the socket of a peer has ended, and completes after it',
      peers: '   --p--|   ',
      subs: '    ^----!   ',
      cut1: '    --------x',
      cut2: '    ---------',
      expected: '--------(p|)',
    },
    {
      does: 'tells of many peers, whichever ends first',
      peers: '   --p--q-----',
      subs: '    ^----------',
      cut1: '    ----------x',
      cut2: '    -------x---',
      expected: '-------q--p',
    },
    {
      does: 'says nothing of a peer that had ended before',
      peers: '   --p----',
      subs: '    ^------',
      cut1: '    x------',
      cut2: '    -------',
      expected: '-------',
    },
    {
      does: 'passes an error of its source on',
      peers: '   --p--#',
      subs: '    ^----!',
      cut1: '    --------x',
      cut2: '    ---------',
      expected: '-----#',
    },
    {
      does: 'lets go of its source and of the peers when unsubscribed',
      peers: '   --p--q----',
      subs: '    ^------!  ',
      cut1: '    ------x---',
      cut2: '    --------x-',
      expected: '------p',
      unsub: '   -------!',
    },
  ])(
    '$does',
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
    'gives the whole reason',
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
