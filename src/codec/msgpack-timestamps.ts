import { decodeTimestampToTimeSpec, encodeTimestampExtension, EXT_TIMESTAMP, ExtData } from '@msgpack/msgpack';
import type { ExtensionCodecType } from '@msgpack/msgpack';
import { malformed } from './prescan.js';

/** Writes a `Date` as the timestamp extension, and reads no other extension. */
export const TIMESTAMPS_ONLY: ExtensionCodecType<undefined> = {
  tryToEncode(value) {
    const data = encodeTimestampExtension(value);
    return data === null ? null : new ExtData(EXT_TIMESTAMP, data);
  },
  decode(data, type) {
    if (type !== EXT_TIMESTAMP) throw malformed(`expected no extension but timestamp (-1), got type ${type}`);
    const { sec, nsec } = decodeTimestampToTimeSpec(data);
    if (nsec > 999_999_999) throw malformed(`expected at most 999 999 999 nanoseconds in a timestamp, got ${nsec}`);
    const date = new Date(sec * 1e3 + nsec / 1e6);
    if (Number.isNaN(date.getTime())) throw malformed('expected a timestamp within the range of Date, got one beyond it');
    return date;
  },
};
