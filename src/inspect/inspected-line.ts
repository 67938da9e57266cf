import { labelled } from '../stream/label.js';
import type { Label } from '../stream/label.js';
import type { SeenFrame } from '../peer/events.js';
import { ABSENT, isFrameType } from '../wire/frame.js';
import type { Frame } from '../wire/frame.js';
import { toMapping } from '../wire/mapping.js';
import type { InspectorLine } from './batch.js';
import { Omitted } from './json-values.js';
import { shortened, withoutSlice } from './recording.js';

/** A name at the beginning of a payload that was cut: the default label finds its first key or its first item. */
const NAME_IN_TEXT = /^(?:\[|\{"(?:op|type|method|name|event)":)"([^"\\]{1,100})"/;

/** A connection of a peer, and how the lines of its frames are made. */
export interface WatchedConnection {
  /** The number of the connection among all that are inspected. */
  readonly c: number;
  readonly isDialer: boolean;
  readonly label: Label;
}

/** The content of a frame that its line shows. */
export interface Shown {
  readonly payloads: boolean;
  /** Slices of payloads, which also name streams. A redaction leaves them out. */
  readonly slices: boolean;
}

/** Makes the line of a frame, `t` ms after the feed began. */
export function inspectedLine(
  { frame, direction, bytes }: SeenFrame,
  t: number,
  { c, isDialer, label }: WatchedConnection,
  { payloads, slices }: Shown,
): InspectorLine {
  const d = (direction === 'tx') === isDialer ? '>' : '<';
  const f = payloads ? toMapping(frame) : withoutContent(frame, bytes);
  const name = frame.type === 'open' && (slices || frame.fragment == null) ? nameOf(frame, label) : '';
  const line: InspectorLine = name === '' ? { v: 1, t, c, d, f, b: bytes } : { v: 1, t, c, d, f, b: bytes, n: name };
  return slices ? line : withoutSlice(line);
}

/**
 * The envelope of a frame without the payload, whose size is the size of its message: to count it alone takes as long as to encode it.
 * Texts of the remote are short copies, because the history keeps them.
 */
function withoutContent(frame: Frame, bytes: number): Record<string, unknown> {
  const { stream, end, payload, fragment } = frame;
  const type = isFrameType(frame.type) ? frame.type : shortened(frame.type);
  const hasPayload = payload !== undefined && payload !== ABSENT;
  // One literal makes the objects of most frames small, and alike.
  if (end === true && hasPayload) return { type, stream, end, payload: new Omitted(bytes) };
  const f: Record<string, unknown> = { type };
  if (stream != null) f['stream'] = stream;
  if (end === true) f['end'] = true;
  if (hasPayload) f['payload'] = new Omitted(bytes);
  else if (fragment != null) f['fragment'] = new Omitted(bytes);
  if (frame.more === true) f['more'] = true;
  if (frame.code != null) f['code'] = frame.code;
  if (frame.reason != null) f['reason'] = shortened(frame.reason);
  if (frame.nonce != null) f['nonce'] = shortened(frame.nonce);
  if (frame.last_stream != null) f['last_stream'] = frame.last_stream;
  return f;
}

function nameOf({ payload, fragment }: Frame, label: Label): string {
  if (typeof fragment === 'string') return shortened(NAME_IN_TEXT.exec(fragment.slice(0, 200))?.[1] ?? '');
  // A slice of bytes shows no name.
  return fragment == null ? shortened(labelled(label, payload === ABSENT ? null : payload)) : '';
}
