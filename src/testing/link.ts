import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Fault, MemoryLink, Side } from './memory-link.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Codec, Message } from '../wire/codec.js';
import type { Frame } from '../wire/frame.js';
import { checkFunctions, checkNumber } from '../wire/check.js';
import type { Given } from '../wire/check.js';

/** One message of a link, decoded. */
export interface LinkMessage {
  readonly from: Side;
  readonly frame: Frame;
  /** 1, 2, … per direction. */
  readonly nth: number;
}

/** Decides message by message; `undefined` delivers. */
export type FaultScript = (message: LinkMessage) => Fault | undefined;

/** The line between two peers, in the hands of a test. */
export interface Link {
  /** Every message as it is sent. */
  readonly messages$: Observable<LinkMessage>;
  /** Ends the socket on both sides without a handshake; 1006 unless the reason says otherwise. */
  cut(reason?: Given<CloseReason>): void;
  /** One side stops reading, as a process that hangs does. */
  stall(side: Side): void;
  /** That side reads again, first what has come meanwhile. */
  resume(side: Side): void;
  /** One side reads `message` as if the other had sent it. */
  inject(to: Side, message: Message): void;
}

/** A memory link as a test holds it. */
export function linkOf(line: MemoryLink, codec: Codec): Link {
  return {
    messages$: line.carried$.pipe(map(({ from, message, nth }) => ({ from, nth, frame: codec.decode(message) }))),
    cut(reason) {
      line.cut(reason);
    },
    stall(side) {
      line.ends[side].stall();
    },
    resume(side) {
      line.ends[side].unstall();
    },
    inject(to, message) {
      line.inject(to, message);
    },
  };
}

/** @throws TypeError for what is no time and no script */
export function checkLine(latencyMs: unknown, faults: unknown): void {
  if (latencyMs !== undefined) checkNumber('latencyMs', latencyMs);
  checkFunctions({ faults });
}

/** A fault script over frames as one over messages. */
export function fateOf(faults: FaultScript | undefined, codec: Codec): MemoryLink['options']['fate'] {
  return faults === undefined ? undefined : ({ from, message, nth }) => faults({ from, nth, frame: codec.decode(message) });
}
