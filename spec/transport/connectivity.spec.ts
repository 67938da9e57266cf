import { describe, expect, it } from '@jest/globals';
import { EMPTY } from 'rxjs';
import { ALWAYS_ONLINE, browserConnectivity } from '../../src/transport/connectivity.js';
import { otherPlatform } from '../support/platform/globals.js';

const pretend = otherPlatform();

/** The listener methods that a platform has as globals. */
const listens = (target: EventTarget) => ({
  addEventListener: target.addEventListener.bind(target),
  removeEventListener: target.removeEventListener.bind(target),
});

describe('browserConnectivity', () => {
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
