import { describe, expect, it } from '@jest/globals';
import { filter } from 'rxjs';
import type { Peer, PeerStatus } from '../../../src/index.js';
import { StatusTracker } from '../../../src/peer/status.js';
import { createPair } from '../../../src/testing.js';

const OPEN: PeerStatus = { state: 'open', reconnects: 0 };
const DRAINING: PeerStatus = { state: 'draining', by: 'local' };
const REASON = { code: 1000, reason: '', wasClean: true, willRetry: false };
const CLOSED: PeerStatus = { state: 'closed', reason: REASON, error: null };

/** A tracker, and the states that two subscribers saw. A subscriber between them calls `change` at `open`. */
function told(change: (status: StatusTracker) => void) {
  const status = new StatusTracker();
  const [first, second]: [string[], string[]] = [[], []];
  status.status$.subscribe({ next: ({ state }) => first.push(state), complete: () => first.push('complete') });
  status.status$.pipe(filter(({ state }) => state === 'open')).subscribe(() => {
    change(status);
  });
  status.status$.subscribe({ next: ({ state }) => second.push(state), complete: () => second.push('complete') });
  return { status, first, second };
}

describe('Subscriber of `status$` that changes the status', () => {
  it('`status$` emits the change of a subscriber to all subscribers after the status that caused it', () => {
    const { status, first, second } = told((teller) => {
      teller.set(DRAINING);
    });
    status.set(OPEN);
    expect([first, second]).toEqual([
      ['connecting', 'open', 'draining'],
      ['connecting', 'open', 'draining'],
    ]);
  });

  it('A subscriber of `status$` that changes the status reads the change at once', () => {
    const seen: string[] = [];
    const { status } = told((teller) => {
      teller.set(DRAINING);
      seen.push(teller.now.state);
    });
    status.set(OPEN);
    expect(seen).toEqual(['draining']);
  });

  it('A subscriber of `status$` may end it: all subscribers receive the last status and the completion', () => {
    const { status, first, second } = told((teller) => {
      teller.set(CLOSED);
      teller.complete();
    });
    status.set(OPEN);
    expect([first, second]).toEqual([
      ['connecting', 'open', 'closed', 'complete'],
      ['connecting', 'open', 'closed', 'complete'],
    ]);
  });
});

it.each<[string, (peer: Peer) => unknown]>([
  ['status$', ({ status$ }) => status$],
  ['streams$', ({ streams$ }) => streams$],
  ['frames$', ({ frames$ }) => frames$],
  ['closes$', ({ closes$ }) => closes$],
  ['closed', ({ closed }) => closed],
])('`%s` is the same object at each read, so that a template or an effect does not restart', (_what, read) => {
  const { dialer } = createPair();
  expect(read(dialer)).toBe(read(dialer));
});

it('`opened` and `closed` settle for every caller that waits', async () => {
  const status = new StatusTracker();
  const opened = (): Promise<void> =>
    new Promise((resolve, reject) => {
      status.whenOpened(resolve, reject);
    });
  const waiting = [opened(), opened()];
  const { closed } = status;
  status.set(OPEN);
  await expect(Promise.all([...waiting, opened()])).resolves.toHaveLength(3);
  status.set(CLOSED);
  await expect(closed).resolves.toEqual(REASON);
  await expect(opened()).rejects.toMatchObject({ code: 'CONNECTION_LOST', reason: REASON });
});

it('`status$` emits the last status to a late subscriber, and completes', () => {
  const status = new StatusTracker();
  status.set(CLOSED);
  status.complete();
  const seen: string[] = [];
  status.status$.subscribe({ next: ({ state }) => seen.push(state), complete: () => seen.push('complete') });
  expect(seen).toEqual(['closed', 'complete']);
});
