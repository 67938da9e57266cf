import { describe, expect, it } from '@jest/globals';
import { EMPTY } from 'rxjs';
import { ALWAYS_ONLINE, browserConnectivity, isPage } from '../../src/transport/connectivity.js';
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

  /** An event of a page that the browser keeps, or not. */
  const transition = (type: string, persisted: boolean): Event => Object.assign(new Event(type), { persisted });

  it.each<readonly [event: string, isEmitted: boolean, made: () => Event, page?: { hidden: boolean }]>([
    ['of a network that returns', true, () => new Event('online')],
    ['of a network that goes away', false, () => new Event('offline')],
    ['of a page that becomes visible', true, () => new Event('visibilitychange')],
    ['of a page that becomes hidden', false, () => new Event('visibilitychange'), { hidden: true }],
    ['of a frozen page that runs again', true, () => new Event('resume')],
    ['of a hidden page that runs again', true, () => new Event('resume'), { hidden: true }],
    ['of a page that has loaded', false, () => transition('pageshow', false)],
    ['of a page that leaves the back/forward cache', true, () => transition('pageshow', true)],
    ['of a page that ends', false, () => transition('pagehide', false)],
    ['of a page that enters the back/forward cache', true, () => transition('pagehide', true), { hidden: true }],
  ])('`browserConnectivity` hears %s, and emits it: %s', (_what, isEmitted, made, page = { hidden: false }) => {
    const events = new EventTarget();
    pretend({ ...listens(events), navigator: {}, document: page });
    const seen: string[] = [];
    const listening = browserConnectivity().events$.subscribe((event) => seen.push(event));
    const event = made();
    events.dispatchEvent(event);
    expect(seen).toEqual(isEmitted ? [event.type] : []);
    listening.unsubscribe();
    events.dispatchEvent(made());
    expect(seen).toHaveLength(isEmitted ? 1 : 0);
  });

  it('`browserConnectivity` emits when the network returns in a worker, which has no page', () => {
    const events = new EventTarget();
    pretend({ ...listens(events), navigator: {}, document: undefined });
    const seen: string[] = [];
    browserConnectivity().events$.subscribe((event) => seen.push(event));
    events.dispatchEvent(new Event('online'));
    expect(seen).toEqual(['online']);
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
    expect(ALWAYS_ONLINE).toEqual({ offline: false, events$: EMPTY });
  });

  it.each<readonly [what: string, globals: Readonly<Record<string, unknown>>, is: boolean]>([
    ['Node', {}, false],
    ['Node with the document of a test', { document: {} }, true],
    ['a page', { document: {}, process: undefined }, true],
    ['a page whose bundler adds a process', { document: {}, process: { env: {}, versions: {} } }, true],
    ['a worker', { process: undefined }, true],
    ['React Native', { process: { env: {} }, navigator: { product: 'ReactNative' } }, true],
    ['Deno and Bun', { process: { versions: { node: '22.1.0' } } }, false],
  ])('`isPage` on %s', (_what, globals, is) => {
    const { process } = globalThis;
    pretend(globals);
    const seen = isPage();
    pretend({ process });
    expect(seen).toBe(is);
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
