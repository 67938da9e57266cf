import { it } from '@jest/globals';
import { concat, NEVER, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { AT_ONCE, dialed } from '../../../marbles/support/dialing.js';
import { respond } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { until } from '../socket/leaks.js';

/** A page that tests read. */
export interface Shown {
  readonly text: () => string;
  /** Waits until the page has a text. */
  readonly shows: (expected: string) => Promise<void>;
}

/** A component in a page. */
export interface Mounted extends Shown {
  readonly unmount: () => unknown;
}

/** How one framework mounts the components of the rows. */
export interface Framework {
  /** Shows the value, the status and the error of a stream. */
  readonly ofStream: (open: () => Observable<unknown>, options?: object) => Mounted;
  /** Shows the value and the status of the stream 'price' of a peer, and the state of that peer. */
  readonly ofPeer: (peer: Peer) => Mounted;
}

export function shownOn(page: Element): Shown {
  const text = (): string => page.textContent.trim();
  const shows = (expected: string): Promise<void> =>
    until(
      () => `the page to show '${expected}', not '${text()}',`,
      () => text() === expected,
    );
  return { text, shows };
}

/** Joins the parts that are there to the text of a component. */
export const textOf = (...parts: unknown[]): string => parts.filter((part) => part !== undefined).join(' ');

/** The rows of `useStream` that hold in each framework. */
export function streamRows({ ofStream, ofPeer }: Framework): void {
  it('A component shows each value, the completion, and ends its stream when it unmounts', async () => {
    const source$ = new Subject();
    const page = ofStream(() => source$);
    await page.shows('open');
    source$.next('a');
    await page.shows('a open');
    await page.unmount();
    await until('no subscription', () => !source$.observed);
    const other = ofStream(() => of('b'));
    await other.shows('b complete');
  });

  it('A component shows the error of its stream beside the last value', async () => {
    const source$ = new Subject();
    const page = ofStream(() => source$);
    source$.next('a');
    source$.error(new Error('no'));
    await page.shows('a error Error: no');
  });

  it('A component shows its initial value until the stream has one', async () => {
    const source$ = new Subject();
    const page = ofStream(() => source$, { initialValue: '0' });
    await page.shows('0 open');
    source$.next('a');
    await page.shows('a open');
  });

  it('A component keeps its value while the peer reconnects, and opens the stream again', async () => {
    let nth = 0;
    const { dial, server } = dialed((accepted) => {
      const socket = ++nth;
      accepted.streams$.pipe(respond(() => concat(of(`of ${socket}`), NEVER))).subscribe();
    });
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    const page = ofPeer(peer);
    await page.shows('of 1 open open');
    server.refuse(0);
    server.link?.cut();
    await until('a lost socket', () => page.text().startsWith('of 1 reconnecting'));
    server.refuse(null);
    await page.shows('of 2 open open');
    await page.unmount();
    await peer.close();
  });
}
