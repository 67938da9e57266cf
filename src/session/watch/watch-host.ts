import type { Transport } from '../../transport/transport.js';
import type { Limits } from '../../wire/limits.js';
import type { Reassembly } from '../../wire/reassembly.js';
import type { ResetCode } from '../../wire/codes.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';
import type { Scheduler } from '../../connection/outbound.js';
import type { Transit } from '../../connection/transit.js';

/** The parts of a session that its watches use. */
export interface WatchHost {
  readonly transport: Transport;
  readonly limits: Limits;
  readonly reading: ReadBackpressure;
  readonly reassembly: Reassembly;
  /** How long the remote's bulk has been slowed so far. */
  readonly hold: { readonly heldMs: number };
  readonly transit: Transit;
  readonly scheduler: Pick<Scheduler, 'backlog' | 'bulk'>;
  readonly control: {
    /** Sends the ping of the keepalive. */
    probe(): void;
  };
  readonly closing: {
    readonly awaitsArrival: boolean;
    arrivalMissed(): boolean;
  };
  readonly streams: {
    get(id: number): { reset(by: 'library', code: ResetCode, reason: string): void } | undefined;
  };
}
