import { EMPTY, finalize, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import { isContract } from '../contract/contract.js';
import { log } from '../logger.js';
import type { Remove } from '../peer/hooks.js';
import { Peer } from '../peer/peer.js';
import { peersOf } from '../peer/peers.js';
import type { PeersSource } from '../peer/peers.js';
import { checkObject, checkOptions, optionError } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { Instruments, isList } from './instruments.js';
import type { InstrumentOptions } from './instruments.js';
import { SpanTracer } from './span-tracer.js';

/**
 * Traces and measures a peer, or a server's peers, with OpenTelemetry. Each stream has a client span at the side that opened it, and a
 * server span at the other side. Names follow the semantic conventions 1.45. The context travels in the headers of the open. A
 * handler runs within the context of its span.
 *
 * The server span of a handler that failed has its exception as an event.
 *
 * A peer has one instrumentation: another one replaces it for later streams. Hellos have no span. It ends with its peer, or with the last
 * peer of a closed server.
 *
 * @returns a function that ends it earlier; spans of open streams end with their streams
 * @throws TypeError for a bad option, and unless `source` is a peer or a server
 *
 * @example
 * ```ts
 * const server = serve({ port: 8080, handler });
 * instrument(server, { methods: api });
 * // a span 'square' for each request, with rpc.status_code 'OK'
 * ```
 */
export function instrument(source: Peer | PeersSource, options: InstrumentOptions = {}): Remove {
  const peers$ = peersOf('instrument', source);
  if (!('peers$' in source) && Peer.core(source) === null) throw new TypeError(FOREIGN);
  const instruments = new Instruments(checked(options));
  const instrumented = peers$
    .pipe(
      mergeMap((peer) => attached(peer, instruments)),
      finalize(() => {
        instruments.close();
      }),
    )
    .subscribe();
  return () => {
    instrumented.unsubscribe();
  };
}

const FOREIGN = 'instrument: expected a Peer of this copy of rxmux, got one of another copy';

/** The names of {@link InstrumentOptions}. */
const OPTIONS: NamesOf<InstrumentOptions> = {
  tracerProvider: true,
  meterProvider: true,
  methods: true,
  attributes: true,
};

function checked(options: InstrumentOptions): InstrumentOptions {
  checkOptions(options, OPTIONS);
  const { methods = [], tracerProvider, meterProvider, attributes } = options;
  if (tracerProvider !== undefined && !('getTracer' in Object(tracerProvider)))
    throw optionError('tracerProvider', 'a TracerProvider', tracerProvider);
  if (meterProvider !== undefined && !('getMeter' in Object(meterProvider)))
    throw optionError('meterProvider', 'a MeterProvider', meterProvider);
  if (attributes !== undefined) checkObject('attributes', attributes);
  // The letters of a text would be the names.
  const isUsable = typeof methods === 'object' && (methods as unknown) !== null && (isList(methods) || isContract(methods));
  if (!isUsable) throw optionError('methods', 'a list of names or a contract', methods);
  return options;
}

/** Instruments a peer until it ends. */
function attached(peer: Peer, instruments: Instruments): Observable<never> {
  const core = Peer.core(peer);
  if (core === null) {
    log('error', `${FOREIGN}, which is not instrumented`);
    return EMPTY;
  }
  const tracer = new SpanTracer(instruments, core.options.label);
  core.tracer = tracer;
  return instruments
    .watch(peer, () => core.tracer === tracer)
    .pipe(
      finalize(() => {
        tracer.close();
        if (core.tracer === tracer) core.tracer = null;
      }),
    );
}
