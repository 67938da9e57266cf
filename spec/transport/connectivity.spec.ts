import { describe, expect, it } from '@jest/globals';
import { EMPTY } from 'rxjs';
import { ALWAYS_ONLINE, browserConnectivity } from '../../src/transport/connectivity.js';
import { laterTurn, throughChannel } from '../../src/transport/w3c.js';
import { otherPlatform } from '../support/platform/globals.js';
import { turn, until } from '../support/socket/leaks.js';

describe('browserConnectivity', () => {
  const pretend = otherPlatform();

  /** The listener methods that a platform has as globals. */
  const listens = (target: EventTarget) => ({
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  });

  it('`browserConnectivity` emits when the network returns or the page becomes visible, until unsubscribed', () => {
    const [windowEvents, pageEvents] = [new EventTarget(), new EventTarget()];
    const page = Object.assign(pageEvents, { visibilityState: 'visible' });
    pretend({ ...listens(windowEvents), navigator: {}, document: page });
    const seen: string[] = [];
    const listening = browserConnectivity().resumes$.subscribe((resume) => seen.push(resume));
    page.visibilityState = 'hidden';
    pageEvents.dispatchEvent(new Event('visibilitychange'));
    windowEvents.dispatchEvent(new Event('offline'));
    expect(seen).toEqual([]);
    windowEvents.dispatchEvent(new Event('online'));
    page.visibilityState = 'visible';
    pageEvents.dispatchEvent(new Event('visibilitychange'));
    expect(seen).toEqual(['network', 'page']);
    listening.unsubscribe();
    windowEvents.dispatchEvent(new Event('online'));
    expect(seen).toHaveLength(2);
  });

  it('`browserConnectivity` emits when the network returns in a worker, which has no page', () => {
    const events = new EventTarget();
    pretend({ ...listens(events), navigator: {}, document: undefined });
    const seen: string[] = [];
    browserConnectivity().resumes$.subscribe((resume) => seen.push(resume));
    events.dispatchEvent(new Event('online'));
    expect(seen).toEqual(['network']);
  });

  it.each<readonly [onLine: boolean | undefined, offline: boolean]>([
    [true, false],
    [false, true],
    [undefined, false],
  ])('With `onLine` %s, `offline` is %s at each read', (onLine, offline) => {
    const navigator: { onLine?: boolean | undefined } = { onLine: offline };
    pretend({ ...listens(new EventTarget()), navigator });
    const connectivity = browserConnectivity();
    expect(connectivity.offline).toBe(!offline);
    navigator.onLine = onLine;
    expect(connectivity.offline).toBe(offline);
  });

  it.each<readonly [what: string, globals: Readonly<Record<string, unknown>>]>([
    ['a platform without events', { addEventListener: undefined, navigator: { onLine: false } }],
    ['a platform without a navigator', { ...listens(new EventTarget()), navigator: undefined }],
  ])('`browserConnectivity` returns ALWAYS_ONLINE on %s', (_what, globals) => {
    pretend(globals);
    expect(browserConnectivity()).toBe(ALWAYS_ONLINE);
    expect(ALWAYS_ONLINE).toEqual({ offline: false, resumes$: EMPTY });
  });
});

describe('a later turn', () => {
  const pretend = otherPlatform();

  const ports = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;

  it.each<readonly [how: string, globals: Readonly<Record<string, unknown>>, later: typeof laterTurn]>([
    ['on Node', {}, laterTurn],
    ['through a message channel', {}, throughChannel],
    ['through a timer, without channels', { MessageChannel: undefined }, throughChannel],
  ])('A later turn comes after all microtasks, %s', async (_how, globals, later) => {
    pretend(globals);
    const order: string[] = [];
    const done = new Promise<void>((resolve) => {
      later(() => {
        order.push('turn');
        resolve();
      });
    });
    for (let n = 0; n < 100; n++) await Promise.resolve();
    order.push('microtasks');
    await done;
    expect(order).toEqual(['microtasks', 'turn']);
  });

  it('`throughChannel` closes its channel, so that the process can exit', async () => {
    const before = ports();
    for (let n = 0; n < 10; n++) await new Promise<void>(throughChannel);
    await until('the channels to close', () => ports() <= before);
    await turn();
    expect(ports()).toBeLessThanOrEqual(before);
  });
});
