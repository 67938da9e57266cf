import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/index.js';
import type { Side } from '../../../src/testing.js';
import { WireRules } from '../../support/wire/rules.js';

type Sent = readonly [from: Side, frame: Frame];

const open: Sent = ['dialer', { type: 'open', stream: 1, payload: 'p' }];
const data: Sent = ['dialer', { type: 'data', stream: 1, payload: 'v' }];
const end: Sent = ['dialer', { type: 'data', stream: 1, end: true }];
const reset: Sent = ['dialer', { type: 'reset', stream: 1, code: 8 }];
const cut: Sent = ['dialer', { type: 'data', stream: 1, more: true, fragment: '"v' }];

/** The broken rules of messages in order. */
function brokenBy(messages: readonly Sent[]): readonly string[] {
  const rules = new WireRules();
  messages.forEach(([from, frame], index) => {
    rules.wrote({ from, frame, nth: index + 1 });
  });
  return rules.broken;
}

describe('the wire rules', () => {
  it.each<[string, readonly Sent[]]>([
    ['an upload that is reset after its end', [open, data, end, reset]],
    ['a payload in fragments, given up in between', [open, cut, reset]],
    ['streams of both sides', [open, ['acceptor', { type: 'open', stream: 2 }], ['acceptor', { type: 'data', stream: 1, end: true }]]],
    ['frames of the connection', [['dialer', { type: 'ping' }]]],
  ])('The wire rules accept %s', (_what, messages) => {
    expect(brokenBy(messages)).toEqual([]);
  });

  it.each<[string, readonly Sent[]]>([
    ['data of stream 1: after it was ended', [open, end, data]],
    ['data of stream 1: after it was reset', [open, reset, data]],
    ['reset of stream 1: after it was reset', [open, reset, reset]],
    ['data of stream 1: before its open', [data]],
    ['open of stream 1: an id that is taken', [open, open]],
    ['open of stream 2: an id that is taken', [['dialer', { type: 'open', stream: 2 }]]],
    ['open of stream 1: after 3', [['dialer', { type: 'open', stream: 3 }], open]],
    ['open of stream 1: between the fragments of data', [cut, open]],
    ['data of stream 1: headers after the first frame', [open, ['dialer', { type: 'data', stream: 1, headers: { a: 1 } }]]],
    ['data of stream 1: trailers without an end', [open, ['dialer', { type: 'data', stream: 1, trailers: { a: 1 } }]]],
    ['reset of stream 2: a stream without an open', [['dialer', { type: 'reset', stream: 2 }]]],
  ])('The wire rules report %s', (what, messages) => {
    expect(brokenBy(messages)).toContain(`dialer: ${what}`);
  });

  it('The wire rules report an open by a side that has read a goaway', () => {
    const rules = new WireRules();
    rules.readGoaway('dialer');
    rules.wrote({ from: open[0], frame: open[1], nth: 1 });
    expect(rules.broken).toEqual(['dialer: open of stream 1: after a goaway']);
  });
});
