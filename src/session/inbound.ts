import type { Observable } from 'rxjs';
import { assembleInto } from '../operators/assemble.js';
import { decode } from '../operators/decode.js';
import { route } from '../operators/route.js';
import { mapPresent } from '../rx/map-present.js';
import type { PipelineHost } from '../rx/pipeline.js';
import type { Transport } from '../transport/transport.js';
import type { Codec } from '../wire/codec.js';
import { ConnectionFault } from '../wire/fault.js';
import type { Limits } from '../wire/limits.js';
import type { Reassembly } from '../wire/reassembly.js';
import type { Admission } from '../connection/inbound.js';

/** The parts of a session that its inbound pipeline uses. */
export interface InboundHost {
  readonly transport: Pick<Transport, 'messages$'>;
  readonly codec: Codec;
  readonly limits: Limits;
  readonly admission: Admission;
  readonly reassembly: Reassembly;
  /** Returns a reason that blames the remote, with the note of the limits appended. */
  noted(reason: string): string;
  /** Ends the connection because of `error`. */
  fail(error: unknown): void;
  /** The socket has ended. */
  ended(): void;
}

/** Turns messages of the remote into frames of streams. */
export class Inbound implements PipelineHost {
  constructor(private readonly host: InboundHost) {}

  make(): Observable<unknown> {
    const { transport, codec, limits, admission, reassembly } = this.host;
    return transport.messages$.pipe(
      mapPresent(admission.message),
      decode(codec, limits),
      mapPresent(admission.frame),
      assembleInto(reassembly),
      route(admission),
    );
  }

  /** A message of the remote ends the connection. */
  failed(error: unknown): void {
    if (error instanceof ConnectionFault) error.message = this.host.noted(error.message);
    this.host.fail(error);
  }

  completed(): void {
    this.host.ended();
  }
}
