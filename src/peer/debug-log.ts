import { log, logger as ownLogger } from '../logger.js';
import type { Logger } from '../logger.js';
import type { SocketClose } from '../transport/transport.js';
import { quoted } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { CloseCode, resetCodeName } from '../wire/codes.js';
import { FRAME_TYPES, isFrameType } from '../wire/frame.js';
import type { Frame, FrameDirection } from '../wire/frame.js';
import { encodedLength } from '../wire/length.js';
import { debugging } from './log.js';
import type { LoggedPeer } from './log.js';
import type { PeerStatus } from './status.js';

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

  constructor(private readonly peer: LoggedPeer) {}

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

function withPeerLogs(logger: Logger): Logger {
  debugging.logOf = (peer) => new PeerLog(peer);
  return logger;
}

/**
 * The library's only logger. Extra values go to the console unchanged.
 *
 * @example
 * ```ts
 * logger.level = 'debug';
 * logger.isEnabledFor('info');   // true
 * ```
 */
// Only code that imports it sets the level, so a page without it loads no PeerLog.
export const logger: Logger = /* @__PURE__ */ withPeerLogs(ownLogger);
