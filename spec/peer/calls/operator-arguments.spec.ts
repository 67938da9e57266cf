import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import {
  interceptIncomingHeaders,
  interceptOpen,
  interceptReplyHeaders,
  observeFrames,
  reopenOnReconnect,
  respond,
  through,
  withCredit,
} from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { virtualPeerTime } from '../../support/peer/time.js';

virtualPeerTime();

/** A value from a program without types. */
const given = (value: unknown): never => value as never;

describe('Arguments of operators over peers and streams', () => {
  it.each<[string, () => unknown, string]>([
    ['observeFrames', () => observeFrames(given(undefined)), 'observeFrames: expected a function, got undefined'],
    ['interceptOpen', () => interceptOpen(given({})), 'interceptOpen: expected a function, got an object'],
    ['interceptReplyHeaders', () => interceptReplyHeaders(given('a')), "interceptReplyHeaders: expected a function, got 'a'"],
    ['interceptIncomingHeaders', () => interceptIncomingHeaders(given(null)), 'interceptIncomingHeaders: expected a function, got null'],
    ['respond', () => respond(given([1])), 'respond: expected a function, got an array'],
    ['the options of respond', () => respond(() => of(1), given(null)), 'options: expected an object, got null'],
    ['withCredit().grant', () => withCredit(1).grant(given(1)), 'grant.open: expected a function, got 1'],
    ['the work of withCredit().grant', () => withCredit(1).grant(() => [], given(1)), 'grant.work: expected a function, got 1'],
    ['withCredit().spend', () => withCredit(1).spend(given(undefined)), 'spend: expected the stream of the consumer, got undefined'],
    [
      'spend over a promise',
      () => withCredit(1).spend(given(Promise.resolve(1))),
      'spend: expected the stream of the consumer, got an object',
    ],
    ['the options of spend', () => withCredit(1).spend(of(1), given('latest')), "spend: expected { overflow }, got 'latest'"],
  ])('%s throws for a wrong argument when it is called', (_name, make, message) => {
    expect(make).toThrow(new TypeError(message));
  });

  it.each([
    { options: { input: of(9) }, says: "options: expected one of headers, signal, timeoutMs, onOpen, retry, overflow, got 'input'" },
    { options: 'latest', says: "options: expected an object, got 'latest'" },
    { options: null, says: 'options: expected an object, got null' },
  ])('`through` throws for $options when it is called', ({ options, says }) => {
    expect(() => through(createPair().dialer, 'squares', given(options))).toThrow(new TypeError(says));
  });

  it.each<[string, unknown, string]>([
    ['no options', undefined, 'reopenOnReconnect: expected { open }, got undefined'],
    ['a function in place of options', () => [], 'reopenOnReconnect: expected { open }, got a function'],
    ['no `open`', {}, 'reopenOnReconnect.open: expected a function, got undefined'],
    ['an `initial` without a cursor', { initial: 0, open: () => [] }, 'reopenOnReconnect.cursor: expected a function, got undefined'],
    ['a number as cursor', { open: () => [], cursor: 1 }, 'reopenOnReconnect.cursor: expected a function, got 1'],
  ])('`reopenOnReconnect` throws for %s when it is called', (_what, options, message) => {
    const { dialer } = createPair();
    expect(() => reopenOnReconnect(dialer, given(options))).toThrow(new TypeError(message));
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['ws://localhost', "'ws://localhost'"],
    [{}, 'an object'],
  ])('`reopenOnReconnect` and `through` refuse %p as a peer', (peer, got) => {
    expect(() => reopenOnReconnect(given(peer), { open: () => [] })).toThrow(
      new TypeError(`reopenOnReconnect: expected a Peer, got ${got}`),
    );
    expect(() => through(given(peer))).toThrow(new TypeError(`through: expected a Peer, got ${got}`));
  });
});

it('`through` throws for an unknown overflow when it is piped', () => {
  const { dialer } = createPair();
  const operator = through(dialer, 'p', { overflow: given('newest') });
  expect(() => of(1).pipe(operator)).toThrow(TypeError);
});
