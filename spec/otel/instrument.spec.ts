import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { context, createNoopMeter, metrics, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { concat, firstValueFrom, NEVER, of, Subject, take, throwError } from 'rxjs';
import { answer, client, contract, request } from '../../src/contract.js';
import { RemoteError, ResetCode, respond } from '../../src/index.js';
import type { Peer, Stream, StreamHandler } from '../../src/index.js';
import { instrument } from '../../src/otel.js';
import type { InstrumentOptions } from '../../src/otel.js';
import type { Pair, PairOptions } from '../../src/testing.js';
import { createPair } from '../support/peer/tracked.js';

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const METHODS = ['sum', 'ticks', 'fail', 'refuse', 'late', 'hang'];

let metricsExporter: InMemoryMetricExporter;
let meterProvider: MeterProvider;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }));
});

beforeEach(() => {
  spans.reset();
  metricsExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: metricsExporter })] });
});

afterEach(() => meterProvider.shutdown());

afterAll(() => {
  context.disable();
  propagation.disable();
});

/** Answers by the name of the operation. */
const handler: StreamHandler = async ({ op }: { op: string }, stream) => {
  if (op === 'fail') throw new Error('no such seat');
  if (op === 'refuse') stream.reset(ResetCode.REFUSED, 'full');
  else if (op === 'ticks') await stream.sendAll(concat(of(1), NEVER));
  else if (op === 'hang') await stream.closed;
  else await stream.reply(op);
};

/** A pair with one instrumentation of each side. */
function traced({
  onStream = handler,
  ...options
}: PairOptions & InstrumentOptions & { readonly onStream?: StreamHandler | null } = {}): Pair {
  const { methods = METHODS, attributes, ...pairOptions } = options;
  const pair = createPair({ ...pairOptions, acceptor: { onStream: onStream ?? undefined, onError: () => undefined } });
  for (const peer of [pair.dialer, pair.acceptor]) instrument(peer, { tracerProvider, meterProvider, methods, attributes });
  return pair;
}

/** Throws a value, as a handler in JavaScript may. */
function failWith(thrown: unknown): never {
  throw thrown;
}

/** Returns an error whose message cannot be read. */
function unreadable(): Error {
  return Object.defineProperty(new Error(), 'message', {
    get: () => failWith(new Error('unreadable')),
  });
}

const ended = (kind: SpanKind): ReadableSpan[] => spans.getFinishedSpans().filter((span) => span.kind === kind);
const outcome = ({ attributes, status }: ReadableSpan) => [attributes['rpc.status_code'], status.code === SpanStatusCode.ERROR];

async function measured(name: string): Promise<readonly DataPoint<unknown>[]> {
  await meterProvider.forceFlush();
  const scopes = metricsExporter.getMetrics().at(-1)?.scopeMetrics ?? [];
  const found = scopes.flatMap(({ metrics }) => metrics).filter(({ descriptor }) => descriptor.name === name);
  return found.flatMap(({ dataPoints }) => dataPoints as DataPoint<unknown>[]);
}

describe('instrument', () => {
  it('A call has a client span and, below it, a server span, by the names of the conventions', async () => {
    const { dialer } = traced({ attributes: { 'server.address': 'example.org' } });
    await dialer.request({ op: 'sum' });
    const [[client], [server]] = [ended(SpanKind.CLIENT), ended(SpanKind.SERVER)];
    const attributes = { 'rpc.system.name': 'rxmux', 'rpc.method': 'sum', 'rpc.status_code': 'OK', 'server.address': 'example.org' };
    expect([client?.name, client?.attributes, client?.status.code]).toEqual(['sum', attributes, SpanStatusCode.UNSET]);
    expect([server?.name, server?.attributes, server?.status.code]).toEqual(['sum', attributes, SpanStatusCode.UNSET]);
    expect(server?.parentSpanContext?.spanId).toBe(client?.spanContext().spanId);
    expect(server?.spanContext().traceId).toBe(client?.spanContext().traceId);
  });

  it('A client span is a child of the active span, and baggage reaches the handler', async () => {
    const seen: unknown[] = [];
    const { dialer } = traced({
      onStream: (_, stream) => {
        seen.push(propagation.getActiveBaggage()?.getEntry('user')?.value);
        void stream.reply(1);
      },
    });
    const parent = tracerProvider.getTracer('app').startSpan('page');
    const baggage = propagation.createBaggage({ user: { value: 'ada' } });
    await context.with(propagation.setBaggage(trace.setSpan(context.active(), parent), baggage), () => dialer.request({ op: 'sum' }));
    parent.end();
    expect([ended(SpanKind.CLIENT)[0]?.parentSpanContext?.spanId, seen]).toEqual([parent.spanContext().spanId, ['ada']]);
  });

  it.each<[title: string, answer: (peer: Peer, work: () => Promise<void>) => void]>([
    ['a handler', (peer, work) => peer.onStream(async (_, stream) => work().then(() => stream.reply(1)))],
    ['an operator', (peer, work) => peer.streams$.pipe(respond(async () => (await work(), 1))).subscribe()],
  ])('The work of %s runs within the span, also after awaits', async (_, answer) => {
    const { dialer, acceptor } = traced({ onStream: null });
    answer(acceptor, async () => {
      await pause(1);
      tracerProvider.getTracer('app').startSpan('query').end();
    });
    await dialer.request({ op: 'sum' });
    const query = spans.getFinishedSpans().find(({ name }) => name === 'query');
    expect(query?.parentSpanContext?.spanId).toBe(ended(SpanKind.SERVER)[0]?.spanContext().spanId);
  });

  it.each<[title: string, use: (pair: Pair) => Promise<unknown>, client: unknown[], server: unknown[]]>([
    ['answered', ({ dialer }) => dialer.request({ op: 'sum' }), ['OK', false], ['OK', false]],
    ['failed by its handler', ({ dialer }) => dialer.request({ op: 'fail' }), ['APPLICATION_ERROR', true], ['APPLICATION_ERROR', true]],
    ['refused', ({ dialer }) => dialer.request({ op: 'refuse' }), ['REFUSED', true], ['REFUSED', false]],
    ['cancelled', ({ dialer }) => firstValueFrom(dialer.open$({ op: 'ticks' }).pipe(take(1))), ['CANCEL', false], ['CANCEL', false]],
    [
      'too late',
      ({ dialer }) => dialer.request({ op: 'hang' }, { timeoutMs: 5 }),
      ['DEADLINE_EXCEEDED', true],
      ['DEADLINE_EXCEEDED', false],
    ],
    [
      'reset with an unknown code',
      async ({ dialer }) => {
        const stream = dialer.open({ op: 'hang' });
        stream.reset(4_711);
        await stream.closed;
      },
      ['4711', true],
      ['OTHER', false],
    ],
    [
      'lost',
      async ({ dialer, acceptor, link }) => {
        const arrived = firstValueFrom(acceptor.streams$);
        const stream = dialer.open({ op: 'hang' });
        await arrived;
        link.cut();
        await stream.closed;
      },
      ['CONNECTION_LOST', true],
      ['CONNECTION_LOST', false],
    ],
  ])('A span ends once, with the cause of a stream that was %s', async (_, use, client, server) => {
    const pair = traced();
    await use(pair).catch(() => undefined);
    await pair.dialer.close();
    expect([ended(SpanKind.CLIENT).map(outcome), ended(SpanKind.SERVER).map(outcome)]).toEqual([[client], [server]]);
  });

  it('A notification has both spans', async () => {
    const { dialer } = traced({ onStream: () => undefined });
    dialer.notify({ op: 'sum' });
    await dialer.close();
    expect(spans.getFinishedSpans().map(outcome)).toEqual([
      ['OK', false],
      ['OK', false],
    ]);
  });

  it('A call that fails before it has a stream ends its span at the next call', async () => {
    const { dialer } = traced({ dialer: { limits: { maxQueuedBytes: 1 } } });
    const big = 'x'.repeat(70_000);
    await dialer.request({ op: 'sum' }, { headers: { big } }).catch(() => undefined);
    await dialer.request({ op: 'sum' });
    expect(ended(SpanKind.CLIENT).map(outcome)).toEqual([
      ['NOT_OPENED', true],
      ['OK', false],
    ]);
  });

  it.each<[side: string, methods: readonly string[] | undefined, kind: SpanKind, expected: unknown[]]>([
    ['client', undefined, SpanKind.CLIENT, ['late', 'late', undefined]],
    ['server', undefined, SpanKind.SERVER, ['rxmux', '_OTHER', 'late']],
    ['client', ['sum'], SpanKind.CLIENT, ['rxmux', '_OTHER', 'late']],
    ['server', ['late'], SpanKind.SERVER, ['late', 'late', undefined]],
  ])('The %s of methods %j names a span by known methods alone', async (_, methods, kind, expected) => {
    const pair = createPair({ acceptor: { onStream: handler } });
    for (const peer of [pair.dialer, pair.acceptor]) instrument(peer, { tracerProvider, meterProvider, methods });
    await pair.dialer.request({ op: 'late' });
    const span = ended(kind)[0];
    expect([span?.name, span?.attributes['rpc.method'], span?.attributes['rpc.method_original']]).toEqual(expected);
  });

  it('The calls of a contract name the spans of both sides, whatever labels the peers have', async () => {
    const api = contract({ add: request<number, number>(), chat: { say: request<string>() } });
    const label = (): string => 'a label for people';
    const pair = createPair({ dialer: { label }, acceptor: { label, onStream: (_, stream) => stream.reply(0) } });
    pair.acceptor.streams$.pipe(answer(api, { add: (n) => n + 1, chat: { say: () => undefined } })).subscribe();
    for (const peer of [pair.dialer, pair.acceptor]) instrument(peer, { tracerProvider, meterProvider, methods: api });
    const calls = client(pair.dialer, api);
    await calls.add.promise(1);
    await calls.chat.say.promise('hello');
    await pair.dialer.request(['chat']);
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER])
      expect(ended(kind).map(({ name, attributes }) => [name, attributes['rpc.method']])).toEqual([
        ['add', 'add'],
        ['chat.say', 'chat.say'],
        ['rxmux', '_OTHER'],
      ]);
  });

  it('A label gets null for a stream without a payload, as for `stream.label`', async () => {
    const label = (payload: unknown): string => (payload === null ? 'nothing' : 'something');
    const pair = createPair({ dialer: { label }, acceptor: { label, onStream: (_, stream) => stream.reply(stream.label) } });
    for (const peer of [pair.dialer, pair.acceptor]) instrument(peer, { tracerProvider, meterProvider, methods: ['nothing'] });
    expect(await pair.dialer.request()).toBe('nothing');
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) expect(ended(kind).map(({ name }) => name)).toEqual(['nothing']);
  });

  it.each<[what: string, use: (stream: Stream) => unknown, recorded: unknown[]]>([
    ['threw', () => void failWith(new RangeError('too big')), [['RangeError', 'too big']]],
    ['rejected', () => Promise.reject(new RangeError('too big')), [['RangeError', 'too big']]],
    ['threw a text', () => void failWith('too big'), [[undefined, 'too big']]],
    ['threw nothing', () => void failWith(undefined), []],
    ['threw an object', () => void failWith({ code: 'EBIG' }), [[undefined, 'EBIG']]],
    ['threw an error of a remote', () => void failWith(new RemoteError('full', null)), [['REMOTE', 'full']]],
    ['threw an error that cannot be read', () => void failWith(unreadable()), [[undefined, 'unknown error: throw an Error']]],
    [
      'reset the stream',
      (stream) => {
        stream.reset(4_711, 'why');
      },
      [],
    ],
    [
      'refused the stream',
      (stream) => {
        stream.reset(ResetCode.REFUSED, 'full');
      },
      [],
    ],
    ['replied', (stream) => stream.reply(1), []],
  ])('The span of a handler that %s has its exception', async (_, onStream, recorded) => {
    const { dialer } = traced({ onStream: (_payload, stream) => onStream(stream) });
    await dialer.request({ op: 'sum' }).catch(() => undefined);
    await dialer.close();
    const [server] = ended(SpanKind.SERVER);
    const shown = server?.events.map(({ attributes }) => [attributes?.['exception.type'], attributes?.['exception.message']]);
    expect(shown).toEqual(recorded);
    expect(ended(SpanKind.CLIENT)[0]?.events).toEqual([]);
  });

  it('An exception has the stack of the handler', async () => {
    const { dialer } = traced();
    await dialer.request({ op: 'fail' }).catch(() => undefined);
    expect(ended(SpanKind.SERVER)[0]?.events[0]?.attributes?.['exception.stacktrace']).toMatch(/no such seat\n.* at .*instrument\.spec/);
  });

  it('Metrics count durations, open streams, resets and what waits', async () => {
    const { dialer, link } = traced();
    await dialer.request({ op: 'sum' });
    await dialer.request({ op: 'fail' }).catch(() => undefined);
    await dialer.ping();
    const failed = {
      'rpc.system.name': 'rxmux',
      'rpc.method': 'fail',
      'rpc.status_code': 'APPLICATION_ERROR',
      'error.type': 'APPLICATION_ERROR',
    };
    for (const side of ['client', 'server'])
      expect((await measured(`rpc.${side}.call.duration`)).map(({ attributes }) => attributes)).toContainEqual(failed);
    expect((await measured('rxmux.streams.reset')).map(({ attributes, value }) => [attributes, value])).toEqual([[failed, 2]]);
    expect((await measured('rxmux.streams.open')).map(({ value }) => value)).toEqual([0, 0]);
    expect((await measured('rxmux.queue.size')).map(({ value }) => value)).toEqual([0]);
    expect(await measured('rxmux.round_trip.duration')).toHaveLength(1);
    link.cut();
  });

  it('Two instrumentations of one meter measure what waits at the peers of both', async () => {
    const pairs = [createPair(), createPair(), createPair()] as const;
    for (const { link } of pairs) link.stall('acceptor');
    for (const [nth, { dialer }] of pairs.entries()) {
      dialer.notify('x'.repeat(100 * (nth + 1)));
      instrument(dialer, { tracerProvider, meterProvider, attributes: nth < 2 ? { site: 'a' } : { site: 'b' } });
    }
    instrument(pairs[0].dialer, { tracerProvider, meterProvider, attributes: { site: 'a' } });
    const [one, two, three] = pairs.map(({ dialer }) => dialer.bufferedAmount) as [number, number, number];
    const waiting = (await measured('rxmux.queue.size')).map(({ attributes, value }) => [attributes['site'], value]);
    expect(waiting).toEqual([
      ['a', one + two],
      ['b', three],
    ]);
    for (const { link } of pairs) link.cut();
  });

  it('A second instrumentation of a peer counts each round trip once', async () => {
    const { dialer } = traced();
    const remove = instrument(dialer, { tracerProvider, meterProvider, methods: METHODS });
    await dialer.ping();
    const counts = (await measured('rxmux.round_trip.duration')).map(({ value }) => (value as { readonly count: number }).count);
    expect(counts).toEqual([1]);
    remove();
  });

  it('A meter asks for what waits as long as an instrumentation has not ended', async () => {
    const asked = new Set<unknown>();
    const meter = createNoopMeter();
    jest.spyOn(meter, 'createObservableUpDownCounter').mockReturnValue({
      addCallback: (callback) => void asked.add(callback),
      removeCallback: (callback) => void asked.delete(callback),
    });
    const { dialer, acceptor, link } = createPair();
    const [stop] = [dialer, acceptor].map((peer) => instrument(peer, { tracerProvider, meterProvider: { getMeter: () => meter } }));
    expect(asked.size).toBe(1);
    stop?.();
    expect(asked.size).toBe(1);
    link.cut();
    await acceptor.closed;
    expect(asked.size).toBe(0);
  });

  it('The peers of a server are traced until the instrumentation ends', async () => {
    const peers$ = new Subject<Peer>();
    const stop = instrument({ peers$ }, { tracerProvider, meterProvider, methods: METHODS });
    const { dialer, acceptor } = createPair({ acceptor: { onStream: handler } });
    peers$.next(acceptor);
    await dialer.request({ op: 'sum' });
    stop();
    await dialer.request({ op: 'sum' });
    expect(spans.getFinishedSpans()).toHaveLength(1);
    expect(peers$.observed).toBe(false);
  });

  it('A global TracerProvider may be registered after `instrument`, and a MeterProvider only before', async () => {
    const { dialer } = createPair({ acceptor: { onStream: handler } });
    instrument(dialer);
    trace.setGlobalTracerProvider(tracerProvider);
    metrics.setGlobalMeterProvider(meterProvider);
    await dialer.request({ op: 'sum' });
    const later = createPair({ acceptor: { onStream: handler } });
    instrument(later.dialer);
    const before = await measured('rpc.client.call.duration');
    await later.dialer.request({ op: 'sum' });
    expect([spans.getFinishedSpans().length, before.length, (await measured('rpc.client.call.duration')).length]).toEqual([2, 0, 1]);
    trace.disable();
    metrics.disable();
  });

  it('A sampler that samples nothing, and no SDK at all, leave every call as it is', async () => {
    const silent = new BasicTracerProvider({ sampler: new AlwaysOffSampler(), spanProcessors: [new SimpleSpanProcessor(spans)] });
    for (const options of [{ tracerProvider: silent }, {}]) {
      const { dialer, acceptor } = createPair({ acceptor: { onStream: handler, onError: () => undefined } });
      for (const peer of [dialer, acceptor]) instrument(peer, options);
      expect(await dialer.request({ op: 'sum' })).toBe('sum');
      await expect(dialer.request({ op: 'fail' })).rejects.toThrow('no such seat');
    }
    expect(spans.getFinishedSpans()).toEqual([]);
  });

  it.each([
    ['another source', {}, {}],
    ['bad options', { peers$: throwError(() => new Error()) }, null],
    ['a text for methods', { peers$: NEVER }, { methods: 'sum' }],
    ['a number for methods', { peers$: NEVER }, { methods: 5 }],
    ['null for methods', { peers$: NEVER }, { methods: null }],
    ['an object that is no contract for methods', { peers$: NEVER }, { methods: { add: () => 1 } }],
  ])('An instrumentation refuses %s', (_, source, options) => {
    expect(() => instrument(source as Peer, options as InstrumentOptions)).toThrow(TypeError);
  });

  it.each([
    [{ tracerProvider: 5 }, 'tracerProvider: expected a TracerProvider, got 5'],
    [{ meterProvider: {} }, 'meterProvider: expected a MeterProvider, got an object'],
    [{ methods: {} }, 'methods: expected a list of names or a contract, got an object'],
    [{ attributes: 'server.address' }, "attributes: expected an object, got 'server.address'"],
  ])('An instrumentation names the option that is none: %j', (options, says) => {
    expect(() => instrument({ peers$: NEVER }, options as never)).toThrow(new TypeError(says));
  });
});
