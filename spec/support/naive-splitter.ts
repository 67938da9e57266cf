import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';

/**
 * The splitting rules read off the page: every candidate is encoded, and slices grow by one unit at a time. Slow, without
 * any arithmetic, and so a judge of the real one.
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
