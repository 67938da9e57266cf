import { log } from '../logger.js';
import type { SocketClose } from '../transport/transport.js';
import { oneLine, quoted } from '../util/check.js';
import type { LazyMap } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import { CloseCode, resetCodeName } from '../wire/codes.js';
import type { ResetCode } from '../wire/codes.js';
import { FRAME_TYPES, isFrameType } from '../wire/frame.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import type { PeerStatus } from './status.js';

/** The peer that a log names. */
interface Logged {
  readonly label: string;
}

/** A payload that is sent or received in fragments. */
interface Transfer {
  readonly since: number;
  fragments: number;
  bytes: number;
}

/**
 * Logs what one peer does at `debug`: one line a frame, and one line for all fragments of a payload. No line shows a payload, headers or
 * trailers.
 */
export class PeerLog {
  readonly #transfers = new Map<string, Transfer>();

  constructor(private readonly peer: Logged) {}

  /** A socket has opened. */
  opened(connection: number): void {
    this.#line(`connection ${connection} opened`);
  }

  frame(connection: number, direction: FrameDirection, frame: Frame): void {
    const suffix = frame.fragment == null ? '' : this.#fragment(`${connection} ${direction} ${String(frame.stream)}`, frame);
    if (suffix !== null) this.#line(`connection ${connection} ${direction} ${frameLine(frame)}${suffix}`);
  }

  /** A socket has ended. */
  ended(connection: number, close: SocketClose): void {
    this.#transfers.clear();
    this.#line(`connection ${connection} ended: ${closeLine(close)}`);
  }

  /** The status has changed: a dial, the wait before a dial, a drain, the end. */
  status(status: PeerStatus): void {
    this.#line(statusLine(status));
  }

  #line(text: string): void {
    log('debug', `${this.peer.label} ${text}`);
  }

  /** Counts a fragment. Returns the text about the whole payload; `null` before the last fragment. */
  #fragment(key: string, { fragment, more }: Frame): string | null {
    const transfer = this.#transfers.get(key) ?? { since: steadyNow(), fragments: 0, bytes: 0 };
    transfer.fragments++;
    transfer.bytes += encodedLength(fragment ?? '');
    if (more === true) {
      this.#transfers.set(key, transfer);
      return null;
    }
    this.#transfers.delete(key);
    return `, ${transfer.bytes} bytes in ${transfer.fragments} fragments, ${Math.round(steadyNow() - transfer.since)} ms`;
  }
}

function frameLine({ type, stream, end, code, reason, last_stream }: Frame): string {
  const isKnown = isFrameType(type);
  const isReasoned = isKnown && FRAME_TYPES[type].isReasoned;
  const parts = [
    // Any other text is the remote's own.
    isKnown ? type : 'of an unknown type',
    stream == null ? '' : `stream ${stream}`,
    end === true ? 'end' : '',
    !isReasoned || code == null ? '' : resetCodeName(code),
    !isReasoned || last_stream == null ? '' : `last_stream ${last_stream}`,
    !isReasoned || reason == null || reason === '' ? '' : quoted(reason),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** A close as text for a log line: `1001 GOING_AWAY "restart"`. */
function closeLine({ code, reason, wasClean }: SocketClose): string {
  const [name = ''] = Object.entries(CloseCode).find(([, each]) => each === code) ?? [];
  return [code, name, reason === '' ? '' : quoted(reason), wasClean ? '' : 'without a close handshake']
    .filter((part) => part !== '')
    .join(' ');
}

function statusLine(status: PeerStatus): string {
  switch (status.state) {
    case 'connecting':
      return `connects, attempt ${status.attempt}${status.last === null ? '' : `, after ${closeLine(status.last)}`}`;
    case 'open':
      return `is open${status.reconnects === 0 ? '' : `, sockets before: ${status.reconnects}`}`;
    case 'waiting':
      return `dials again ${status.offline ? 'once there is a network' : `in ${Math.round(status.delayMs)} ms`}, after ${closeLine(status.last)}`;
    case 'draining':
      return `drains: ${status.by === 'local' ? 'close() was called' : 'the remote goes away'}`;
    case 'closed':
      return `is closed: ${closeLine(status.reason)}`;
  }
}

/** The log has one line a minute for each kind of refusal, because a remote can cause refusals at any rate. */
const PERIOD_MS = 60_000;
/** The most kinds, because a reason may hold a text of the remote. The kinds after these share one line for each code. */
const MOST_KINDS = 20;
/** The parts of a reason that differ within a kind: sizes, and names that the remote chooses. */
const VARIABLE = /\d+|'.*'/g;

/** The last line of each kind, and the refusals since. */
export type RefusalLines = LazyMap<string, { readonly at: number; more: number }>;

/** Warns of a stream of the remote that the library has refused. Its opener may not listen, for example after a `notify`. */
export function warnOfRefusal(lines: RefusalLines, label: string, code: ResetCode, reason: string): void {
  const now = steadyNow();
  const known = `${code} ${reason.replace(VARIABLE, '')}`;
  const kind = lines.has(known) || lines.size < MOST_KINDS ? known : String(code);
  const last = lines.get(kind);
  if (last !== undefined && now - last.at < PERIOD_MS) {
    last.more++;
    return;
  }
  lines.set(kind, { at: now, more: 0 });
  const more = last === undefined || last.more === 0 ? '' : `, and ${last.more} more since the line before`;
  log('warn', `${label} refused a stream with ${resetCodeName(code)}${more}: ${oneLine(reason, 300)}`);
}
