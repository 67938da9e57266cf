import { describe, expect, it } from '@jest/globals';
import { filter, map, mergeMap, takeUntil } from 'rxjs';
import { respond } from '../src/index.js';
import { dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';
import { collectLogs } from '../spec/support/peer/logs.js';

/** Counts the running timers of the platform. */
const realTimers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length;

/** Marbles with `mark` after each `everyMs`, a number of `times`. */
const every = (everyMs: number, mark: string, times: number): string =>
  `${everyMs}ms ${mark}` + ` ${everyMs - 1}ms ${mark}`.repeat(times - 1);

describe('half an hour', () => {
  collectLogs();

  it(
    'Half an hour of keepalive, an outage, backoff and a drain takes no real time',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const before = realTimers();
      // Ten quiet minutes, then the server hangs. It returns after 20 minutes and restarts after 30.
      const hangs$ = cold('    605s x                                        ');
      const isBack$ = cold('   1200s x                                       ');
      const restarts$ = cold(' 1800s x                                       ');
      // The request is made after 29 min 50 s, ten seconds before the restart.
      const asks$ = cold('     1790s x                                       ');
      const report$ = cold('             31s (r|)                            ');
      const reportSubs = '     1790s ^ 30999ms !                             ';
      const reported = '       1790s 31s r                                   ';
      const looks$ = cold('    599s a 22s b 10s c 600s d 200s e 368s f 3s g  ');
      const states = '         599s o 22s o 10s w 600s o 200s o 368s o 3s o  ';
      const pings = every(20_000, 'p', 30);

      const { server, accepted, dial } = dialed((peer) => {
        peer.streams$.pipe(respond(() => report$)).subscribe();
      });
      const peer = dial({ keepalive: {}, reconnect: true });
      const letters = { open: 'o', waiting: 'w', connecting: 'c', draining: 'd', closed: 'x' };
      let dials = 0;
      peer.status$.subscribe(({ state }) => (dials += state === 'connecting' ? 1 : 0));

      hangs$.subscribe(() => {
        server.link?.stall('acceptor');
        server.refuse(0);
      });
      isBack$.subscribe(() => {
        server.refuse(null);
      });
      restarts$.subscribe(() => void accepted().close({ drainMs: 60_000 }));

      const pings$ = peer.frames$.pipe(
        filter(({ direction, frame }) => direction === 'tx' && frame.type === 'ping'),
        map(() => 'p'),
        takeUntil(cold('600500ms x')),
      );
      expectObservable(pings$).toBe(`${pings} 499ms |`);
      expectObservable(looks$.pipe(map(() => letters[peer.status.state]))).toBe(states);
      expectObservable(asks$.pipe(mergeMap(() => peer.request$('report', { timeoutMs: 0 })))).toBe(reported);
      expectSubscriptions(report$.subscriptions).toBe(reportSubs);
      cold('2000s x').subscribe(() => void peer.close());
      flush();
      expect(dials).toBeGreaterThan(20);
      expect(realTimers()).toBe(before);
    }),
  );
});
