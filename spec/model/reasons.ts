import { ResetCode } from '../../src/wire/codes.js';
import type { Held } from './held.js';
import { show } from './model.js';
import { demand } from './violation.js';

/** Facts that may explain the end of a stream. */
export interface Circumstances {
  /** Whether the connection has begun to end. */
  readonly parting: boolean;
  /** Whether the limits are small enough to be reached. */
  readonly tight: boolean;
  /** Whether payloads come in fragments, which may take too long. */
  readonly sliced: boolean;
}

/** When the library may reset a stream by itself. It sends no other code to an honest peer. */
const LIBRARY: Readonly<Record<number, (held: Held, around: Circumstances) => boolean>> = {
  [ResetCode.NO_ERROR]: ({ stream }) => !stream.local,
  [ResetCode.PROTOCOL_ERROR]: (_, { tight }) => tight,
  [ResetCode.INTERNAL_ERROR]: ({ broke }) => broke,
  [ResetCode.FLOW_CONTROL]: (_, { tight }) => tight,
  [ResetCode.PAYLOAD_TOO_LARGE]: (_, { tight }) => tight,
  [ResetCode.REFUSED]: (_, { parting }) => parting,
  [ResetCode.CANCEL]: (_, { parting }) => parting,
  [ResetCode.ENHANCE_YOUR_CALM]: (_, { tight }) => tight,
  [ResetCode.DEADLINE_EXCEEDED]: ({ timed }, { sliced }) => timed || sliced,
};

/** @throws Violation for a reset that no user made and no circumstance explains */
export function checkReason(held: Held, around: Circumstances): void {
  const { cause } = held;
  if (cause?.how !== 'reset' || cause.by === 'remote') return;
  const left = held.reader === 'left' || held.reader === 'request' || held.abort?.signal.aborted === true;
  const asked = held.acted || left || held.broke || (around.tight && cause.code === ResetCode.CANCEL);
  const explained = cause.by === 'user' ? asked : LIBRARY[cause.code ?? -1]?.(held, around) === true;
  demand(explained, 'resets have a reason', () => `${held.name} was reset: ${show(cause)}`);
}
