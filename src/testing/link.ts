import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { isFault, OTHER_SIDE } from './memory-link.js';
import type { Fault, MemoryLink, Side } from './memory-link.js';
import type { CloseReason } from '../wire/codes.js';
import type { Codec, Message } from '../wire/codec.js';
import type { Frame } from '../wire/frame.js';
import { checkFunction, checkNumber, checkObject, optionError } from '../util/check.js';
import { isArrayBuffer } from '../util/check.js';
import { refuseUnknown } from '../util/check.js';
import type { NamesOf, Options } from '../util/check.js';
import type { Given } from '../util/check.js';

/** One message of a link, decoded. */
export interface LinkMessage {
  /** The end that sent it. */
  readonly from: Side;
  /** The frame of the message. */
  readonly frame: Frame;
  /** 1, 2, … per direction. */
  readonly nth: number;
}

/** Decides about each message; `undefined` delivers it. */
export type FaultScript = (message: LinkMessage) => Fault | undefined;

/** The line between two peers, controlled by a test. */
export interface Link {
  /** Emits every message when it is sent. */
  readonly messages$: Observable<LinkMessage>;
  /**
   * Ends the socket on both sides without a handshake; the code is 1006 unless the reason sets another.
   *
   * @throws TypeError for an unknown part of the reason
   */
  cut(reason?: Given<CloseReason>): void;
  /** Makes one side stop reading, as a process that hangs does. */
  stall(side: Side): void;
  /** Makes that side read again, beginning with the messages that arrived meanwhile. */
  resume(side: Side): void;
  /** Makes one side read `message` as if the other side had sent it. */
  inject(to: Side, message: Message): void;
}

/** Names the parts of a reason. */
const REASON: NamesOf<CloseReason> = { code: true, reason: true, wasClean: true, willRetry: true };

/** Wraps a memory link for a test. */
export function linkOf(line: MemoryLink, codec: Codec): Link {
  return {
    messages$: line.carried$.pipe(map(({ from, message, nth }) => ({ from, nth, frame: codec.decode(message) }))),
    cut(reason = {}) {
      refuseUnknown('cut', checkObject('cut', reason), REASON);
      line.cut(reason);
    },
    stall(side) {
      line.ends[checkSide('stall', side)].stall();
    },
    resume(side) {
      line.ends[checkSide('resume', side)].unstall();
    },
    inject(to, message) {
      if (typeof message !== 'string' && !isArrayBuffer(message)) throw optionError('inject', 'a text or an ArrayBuffer', message);
      line.inject(checkSide('inject', to), message);
    },
  };
}

function checkSide(caller: string, side: Side): Side {
  if (Object.hasOwn(OTHER_SIDE, side)) return side;
  throw optionError(caller, "'dialer' or 'acceptor'", side);
}

/** Options of the line between two peers. */
export interface LineOptions {
  /** How long each message travels, in ms. Default 0. */
  readonly latencyMs?: number | undefined;
  /** Decides about each message, in either direction; `undefined` delivers it. Default none: the line delivers all. */
  readonly faults?: FaultScript | undefined;
}

/** Declares {@link LineOptions}. */
export const LINE_OPTIONS: Options<LineOptions> = {
  latencyMs: [checkNumber, 0],
  faults: [checkFunction, undefined],
};

/** Converts a fault script over frames into one over messages. */
export function fateOf(faults: FaultScript | undefined, codec: Codec): MemoryLink['options']['fate'] {
  if (faults === undefined) return undefined;
  return ({ from, message, nth }) => {
    const fault = faults({ from, nth, frame: codec.decode(message) });
    if (fault === undefined || isFault(fault)) return fault;
    throw optionError('faults', "'drop', 'duplicate', 'cut', { delayMs } or { replace }", fault);
  };
}
