import type { Codec, Message } from '../../../src/wire/codec.js';
import { ProtocolError } from '../../../src/wire/errors.js';
import { ABSENT } from '../../../src/wire/frame.js';
import type { Frame } from '../../../src/wire/frame.js';
import { encodedLength } from '../../../src/wire/length.js';

/**
 * The splitting rules, taken literally: encodes every candidate and grows each slice by one unit at a time. It is slow but
 * needs no arithmetic, so it can judge the real splitter.
 * Returns a function that runs a program of Node in a process of its own, to its end. The program has the names of `rxmux/node` and
 */
export function naiveSplit(frame: Frame, cap: number, codec: Codec): Frame[] {
  const fits = (candidate: Frame): boolean => encodedLength(codec.encode(candidate)) <= cap;
  const { payload = ABSENT, headers, end, trailers, ...repeated } = frame;
  if (fits(frame)) return [frame];
  if (payload === ABSENT) throw new ProtocolError('no payload');

  const slices: Frame[] = [];
  let rest = unitsOf(codec.encodePayload(payload));
  for (;;) {
    const leading = slices.length === 0 ? { headers } : {};
    const closing = { ...repeated, ...leading, fragment: join(rest, codec), end, trailers };
    if (fits(closing)) return [...slices, closing];
    if (rest.length === 0) throw new ProtocolError('closing fragment');

    const open = (count: number): Frame => ({ ...repeated, ...leading, fragment: join(rest.slice(0, count), codec), more: true });
    let count = 0;
    while (count < rest.length && fits(open(count + 1))) count++;
    if (count === 0) throw new ProtocolError('one unit');
    slices.push(open(count));
    rest = rest.slice(count);
  }
}

function unitsOf(encoded: Message): readonly (string | number)[] {
  return typeof encoded === 'string' ? Array.from(encoded) : Array.from(new Uint8Array(encoded));
}

function join(units: readonly (string | number)[], codec: Codec): Message {
  return codec.binary ? Uint8Array.from(units, Number).buffer : units.join('');
}
