import { Omitted } from 'rxmux/inspect';
import { sizeOf } from './content.js';
import type { Lane } from './lane.js';
import type { InspectorLine } from 'rxmux/inspect';

/** The shape of a marble. */
export type Kind = 'open' | 'data' | 'fragment' | 'end' | 'reset' | 'ping' | 'pong' | 'goaway' | 'unknown';

/** One frame, as the diagram shows it. */
export class Marble {
  readonly t: number;
  readonly kind: Kind;
  /** Whether the dialer has sent the frame. */
  readonly ofDialer: boolean;
  /** Whether the sender ends its direction with this frame. */
  readonly ends: boolean;
  /** The length of the message in bytes; where the feed does not have it, the size of the content. */
  readonly bytes: number;
  /** Whether the frame had a payload or a slice of one, recorded or not. */
  readonly hasPayload: boolean;
  /** The bytes that the page keeps because payloads are shown. */
  readonly contentBytes: number;
  /** The time between a ping and its pong, in ms. */
  roundTrip: number | null = null;
  /** Whether the filter shows the marble. */
  matches = true;

  constructor(
    readonly line: InspectorLine,
    readonly lane: Lane,
  ) {
    const { t, d, f, b } = line;
    this.t = t;
    this.ofDialer = d === '>';
    this.kind = kindOf(f);
    this.ends = f?.['end'] === true && f['more'] !== true;
    this.bytes = b ?? sizeOf(f?.['payload']) + sizeOf(f?.['fragment']);
    this.hasPayload = contentOf(f) !== undefined;
    this.contentBytes = hasContent(f) ? this.bytes : 0;
  }
}

/** The payload of a frame, or the slice of one. */
export function contentOf(frame: InspectorLine['f']): unknown {
  return frame?.['payload'] === undefined ? frame?.['fragment'] : frame['payload'];
}

/** Whether a line has a payload or a slice of one, and not its size alone. */
function hasContent(frame: InspectorLine['f']): boolean {
  const content = contentOf(frame);
  return content !== undefined && !(content instanceof Omitted);
}

function kindOf(frame: InspectorLine['f']): Kind {
  switch (frame?.['type']) {
    case 'open':
      return 'open';
    case 'data':
      return kindOfData(frame);
    case 'reset':
      return 'reset';
    case 'ping':
      return 'ping';
    case 'pong':
      return 'pong';
    case 'goaway':
      return 'goaway';
    default:
      return 'unknown';
  }
}

function kindOfData(frame: NonNullable<InspectorLine['f']>): Kind {
  if (frame['fragment'] !== undefined) return 'fragment';
  return frame['end'] === true && frame['payload'] === undefined ? 'end' : 'data';
}
