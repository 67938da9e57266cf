import { it } from '@jest/globals';
import { map, Subject } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { Peer } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';
import { marbles } from './virtual.js';

/** An operator that adds a hook to peers, and the act that runs the hook. */
export interface Hooking {
  readonly name: string;
  /** The operator, with a hook that calls `seen`. */
  readonly operator: (seen: () => void) => OperatorFunction<Peer, Peer>;
  /** The peer of a pair to which the operator adds its hook. */
  readonly hooked: (pair: Pair) => Peer;
  /** Runs the hook once, if the peer has it. */
  readonly act: (pair: Pair) => void;
}

interface Row {
  readonly does: string;
  readonly peers: string;
  readonly subs: string;
  readonly expected: string;
  /** When an act runs the hook of the first peer, and the hook of the second. */
  readonly acts1: string;
  readonly acts2: string;
  readonly seen1: string;
  readonly seen2: string;
  readonly unsub?: string;
}

const ROWS: readonly Row[] = [
  {
    does: 'waits for a peer',
    peers: '   ---------',
    subs: '    ^--------',
    expected: '---------',
    acts1: '   --x---x--',
    acts2: '   ---------',
    seen1: '   ---------',
    seen2: '   ---------',
  },
  {
    does: 'completes without a peer',
    peers: '   ----|    ',
    subs: '    ^---!    ',
    expected: '----|    ',
    acts1: '   --x---x--',
    acts2: '   ---------',
    seen1: '   ---------',
    seen2: '   ---------',
  },
  {
    does: 'adds its hook to a peer, and leaves the hook after its completion',
    peers: '   --p--|      ',
    subs: '    ^----!      ',
    expected: '--p--|      ',
    acts1: '   -x--x---x--x',
    acts2: '   ------------',
    seen1: '   ----x---x--x',
    seen2: '   ------------',
  },
  {
    does: 'adds its hook to each of many peers',
    peers: '   --p----q----',
    subs: '    ^-----------',
    expected: '--p----q----',
    acts1: '   -x--x---x---',
    acts2: '   --x--x---x--',
    seen1: '   ----x---x---',
    seen2: '   ---------x--',
  },
  {
    does: 'leaves its hook after an error',
    peers: '   --p--#      ',
    subs: '    ^----!      ',
    expected: '--p--#      ',
    acts1: '   -x--x---x--x',
    acts2: '   ------------',
    seen1: '   ----x---x--x',
    seen2: '   ------------',
  },
  {
    does: 'removes its hook from every peer when it is unsubscribed',
    peers: '   --p---q-----',
    subs: '    ^--------!  ',
    expected: '--p---q--',
    acts1: '   ---x----x-x-',
    acts2: '   -------x---x',
    seen1: '   ---x----x---',
    seen2: '   -------x----',
    unsub: '   ---------!  ',
  },
];

/** Runs the rows that every hook operator has to pass. */
export function hangsHooks({ name, operator, hooked, act }: Hooking): void {
  it.each(ROWS)(
    `\`${name}\` $does`,
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const pairs = { p: createPair(), q: createPair() };
      const seen$ = { p: new Subject<string>(), q: new Subject<string>() };
      const names = new Map([
        [hooked(pairs.p), 'p' as const],
        [hooked(pairs.q), 'q' as const],
      ]);
      const nameOf = (peer: Peer): 'p' | 'q' => names.get(peer) ?? 'p';
      for (const pair of Object.values(pairs)) pair.acceptor.onStream((_, stream) => stream.reply());
      const peers$ = cold(row.peers, { p: hooked(pairs.p), q: hooked(pairs.q) });
      // One operator sees both peers. `acting` says which peer ran the hook.
      let acting: 'p' | 'q' = 'p';
      const passed$ = peers$.pipe(
        operator(() => seen$[acting].next('x')),
        map(nameOf),
      );
      expectObservable(passed$, row.unsub).toBe(row.expected);
      expectObservable(seen$.p).toBe(row.seen1);
      expectObservable(seen$.q).toBe(row.seen2);
      expectSubscriptions(peers$.subscriptions).toBe(row.subs);
      for (const [name, acts] of [
        ['p', row.acts1],
        ['q', row.acts2],
      ] as const)
        cold(acts).subscribe(() => {
          acting = name;
          act(pairs[name]);
        });
    }),
  );
}
