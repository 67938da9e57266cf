import type { Observable } from 'rxjs';
import { mapPresent } from '../rx/map-present.js';
import type { PipelineHost } from '../rx/pipeline.js';
import type { Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import { frameEncoder } from '../wire/outgoing.js';
import type { Scheduler } from '../connection/outbound.js';
import type { Departures } from './streams/departures.js';

/** The parts of a session that its outbound pipeline uses. */
export interface OutboundHost {
  readonly transport: Pick<Transport, 'encoder'>;
  readonly codec: Codec;
  readonly scheduler: Pick<Scheduler, 'slices$'>;
  readonly departures: Departures;
}

/** Turns frames, in turn, into messages for the socket. */
export class Outbound implements PipelineHost {
  constructor(private readonly host: OutboundHost) {}

  make(): Observable<unknown> {
    const { transport, codec, scheduler, departures } = this.host;
    const encoder = transport.encoder ?? frameEncoder;
    return scheduler.slices$.pipe(mapPresent(departures.begin), mapPresent(encoder(codec)), mapPresent(departures.complete));
  }

  failed(error: unknown): void {
    this.host.departures.fail(error);
  }
}
