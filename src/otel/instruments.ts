import { metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, MeterProvider, Span, TracerProvider } from '@opentelemetry/api';
import { defer, finalize, ignoreElements, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { namesIn } from '../contract/contract.js';
import type { Contract } from '../contract/contract.js';
import { isCall, messageOf } from '../stream/end.js';
import type { CloseCause } from '../stream/end.js';
import { labelled } from '../stream/label.js';
import type { Label } from '../stream/label.js';
import { isError } from '../util/check.js';
import type { Peer } from '../peer/peer.js';
import { VERSION } from '../version.js';
import { ABSENT } from '../wire/frame.js';
import { queueSizesOf } from './queue-sizes.js';
import { statusOf } from './status.js';
import type { SpanSide } from './status.js';

const SYSTEM = 'rxmux';
/** The name of a method that is not known. */
const OTHER = '_OTHER';
/** The buckets that the conventions advise for durations, in seconds. */
const SECONDS = {
  unit: 's',
  advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] },
};
const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Makes the spans. Default the global provider. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics. Default the global provider as `instrument` finds it: one that is registered later gets none. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * A contract, or the names of methods. A stream is named by the call of the contract that opened it, or else by its label. Any other
   * name is `_OTHER`. Default: a client takes the label of its stream, and a server, whose clients choose the label, none.
   */
  readonly methods?: Contract | Iterable<string> | undefined;
  /** Attributes of every span and measurement, such as `server.address`. Default none. */
  readonly attributes?: Attributes | undefined;
}

/** A stream with its span. */
export interface TracedCall {
  readonly side: SpanSide;
  readonly span: Span;
  /** The context that has the span. */
  readonly context: Context;
  readonly began: number;
  readonly attributes: Attributes;
}

/** Makes the spans and the metrics of all peers of an instrumentation. */
export class Instruments {
  readonly #methods: ReadonlySet<string> | null;
  readonly #tracer;
  readonly #durations;
  readonly #open;
  readonly #resets;
  readonly #roundTrips;
  readonly #peers = new Set<Peer>();
  /** Ends the measurement of what waits. The meter would otherwise call it for as long as the process runs. */
  readonly close: () => void;

  constructor(private readonly options: InstrumentOptions) {
    const { methods } = options;
    this.#methods = methods === undefined ? null : new Set(isList(methods) ? methods : namesIn(methods));
    this.#tracer = (options.tracerProvider ?? trace).getTracer(SYSTEM, VERSION);
    const meter = (options.meterProvider ?? metrics).getMeter(SYSTEM, VERSION);
    this.#durations = {
      client: meter.createHistogram('rpc.client.call.duration', SECONDS),
      server: meter.createHistogram('rpc.server.call.duration', SECONDS),
    };
    this.#open = meter.createUpDownCounter('rxmux.streams.open', { unit: '{stream}' });
    this.#resets = meter.createCounter('rxmux.streams.reset', { unit: '{stream}' });
    this.#roundTrips = meter.createHistogram('rxmux.round_trip.duration', SECONDS);
    this.close = queueSizesOf(meter).add({ peers: this.#peers, attributes: options.attributes });
  }

  /** Measures the queue of a peer, and its round trips while `isCurrent` holds, until the peer ends. Emits nothing. */
  watch(peer: Peer, isCurrent: () => boolean): Observable<never> {
    const { attributes } = this.options;
    return defer(() => {
      this.#peers.add(peer);
      return peer.rtt$.pipe(
        tap((ms) => {
          if (isCurrent()) this.#roundTrips.record(ms / 1000, attributes);
        }),
        ignoreElements(),
        finalize(() => this.#peers.delete(peer)),
      );
    });
  }

  /** Begins the span of a stream with its payload. `label` names the stream for people. */
  begin(side: SpanSide, label: Label, payload: unknown, parent: Context): TracedCall {
    const [called] = isCall(payload) ? payload : [''];
    const shown = this.#methods?.has(called) === true ? called : labelled(label, payload === ABSENT ? null : payload);
    const method = this.#methodOf(side, shown);
    const attributes: Attributes = { ...this.options.attributes, 'rpc.system.name': SYSTEM, 'rpc.method': method };
    const original = method === OTHER && shown !== '' ? { ...attributes, 'rpc.method_original': shown } : attributes;
    const name = method === OTHER ? SYSTEM : method;
    const span = this.#tracer.startSpan(name, { kind: KINDS[side], attributes: original }, parent);
    this.#open.add(1, attributes);
    return { side, span, context: trace.setSpan(parent, span), began: performance.now(), attributes };
  }

  /**
   * Ends a span because its stream has ended. `null` is a call that failed before it had a stream.
   *
   * @param thrown the error that a handler threw; `null` if none did
   */
  end({ side, span, began, attributes }: TracedCall, cause: CloseCause | null, thrown: unknown = null): void {
    const { code, isError: isFault, reason } = cause === null ? NEVER_OPENED : statusOf(cause, side);
    if (thrown !== null) recordException(span, thrown);
    const outcome: Attributes = isFault ? { 'rpc.status_code': code, 'error.type': code } : { 'rpc.status_code': code };
    span.setAttributes(outcome);
    if (isFault) span.setStatus(reason === '' ? { code: SpanStatusCode.ERROR } : { code: SpanStatusCode.ERROR, message: reason });
    span.end();
    const measured = { ...attributes, ...outcome };
    this.#durations[side].record((performance.now() - began) / 1000, measured);
    this.#open.add(-1, attributes);
    if (cause?.how === 'reset' && code !== 'OK') this.#resets.add(1, measured);
  }

  #methodOf(side: SpanSide, label: string): string {
    const isKnown = this.#methods === null ? side === 'client' && label !== '' : this.#methods.has(label);
    return isKnown ? label : OTHER;
  }
}

/** Whether methods are names, and no contract. */
export function isList(methods: Contract | Iterable<string>): methods is Iterable<string> {
  return Symbol.iterator in methods;
}

function recordException(span: Span, thrown: unknown): void {
  try {
    span.recordException(isError(thrown) ? thrown : messageOf(thrown));
  } catch {
    // A getter of the error has thrown.
    span.recordException(messageOf(thrown));
  }
}

const NEVER_OPENED = { code: 'NOT_OPENED', isError: true, reason: '' } as const;
