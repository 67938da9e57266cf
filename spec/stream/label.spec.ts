import { describe, expect, it } from '@jest/globals';
import { virtualPeerTime } from '../support/peer/time.js';
import { createPair } from '../support/peer/tracked.js';

const time = virtualPeerTime();

/** Labels of one stream at both of its ends. */
async function labelsOf(payload: unknown, label?: (payload: unknown) => string): Promise<readonly unknown[]> {
  const { dialer, acceptor } = createPair({ dialer: { label }, acceptor: { label } });
  const labels: unknown[] = [];
  acceptor.onStream((_, stream) => {
    labels.push(stream.label);
    return stream.reply(null);
  });
  labels.push(dialer.open(payload).label);
  await time.advance();
  return labels;
}

describe('The label of a stream', () => {
  it.each([
    [{ op: 'search', text: 'mux' }, 'search'],
    [{ type: 'chat' }, 'chat'],
    [{ method: 'sum', params: [1] }, 'sum'],
    [{ name: 'ann' }, 'ann'],
    [{ event: 'joined' }, 'joined'],
    [{ op: 7, type: 'chat' }, 'chat'],
    [['square', 3], 'square'],
    [[3], ''],
    [[], ''],
    [{ token: 'secret' }, ''],
    ['a text may be content', ''],
    [null, ''],
    [42, ''],
    [undefined, ''],
  ])('A stream opened with %j has the label %j at both ends', async (payload, label) => {
    expect(await labelsOf(payload)).toEqual([label, label]);
  });

  it('The option `label` names streams', async () => {
    expect(await labelsOf({ a: 1 }, (payload) => Object.keys(payload as object).join())).toEqual(['a', 'a']);
  });

  it('A label has 100 characters at most', async () => {
    expect(await labelsOf({ op: 'x'.repeat(101) })).toEqual(['x'.repeat(100), 'x'.repeat(100)]);
  });

  it.each([
    ['throws', () => { throw new Error('of the user'); }], // prettier-ignore
    ['returns no text', () => 7 as unknown as string],
    ['returns a promise that rejects', () => Promise.reject(new Error('of the user')) as never],
  ])('A label function that %s names no stream, and harms none', async (_what, label) => {
    expect(await labelsOf({ op: 'sum' }, label)).toEqual(['', '']);
  });

  it('The option `label` must be a function', () => {
    expect(() => createPair({ dialer: { label: 'sum' as never } })).toThrow(new TypeError("label: expected a function, got 'sum'"));
  });
});
