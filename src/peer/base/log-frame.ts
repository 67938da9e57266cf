import { log } from '../../logger.js';
import { steadyNow } from '../../transport/steady-clock.js';
import { FRAME_TYPES, isFrameType } from '../../wire/frame-types.js';
import type { Frame, FrameDirection } from '../../wire/frame.js';
import { encodedLength } from '../../wire/length.js';
import { quoted } from '../../wire/quoted.js';
import { resetCodeName } from '../../wire/reset-code.js';

/** A payload that is sent or received in fragments. */
interface Transfer {
  readonly since: number;
  fragments: number;
  bytes: number;
}

/** Logs one line a frame at `debug`, and one line for all fragments of a payload. No line shows a payload, headers or trailers. */
export class FrameLog {
  readonly #transfers = new Map<string, Transfer>();

  /** @param label the name of the peer */
  frame(label: string, connection: number, direction: FrameDirection, frame: Frame): void {
    const suffix = frame.fragment == null ? '' : this.#fragment(`${connection} ${direction} ${String(frame.stream)}`, frame);
    if (suffix !== null) log('debug', `${label} connection ${connection} ${direction} ${frameLine(frame)}${suffix}`);
  }

  /** Drops unfinished payloads, because a connection has ended. */
  clear(): void {
    this.#transfers.clear();
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
