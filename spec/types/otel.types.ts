import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { instrument, InstrumentOptions } from '../../src/otel.js';
import type { Peer } from '../../src/index.js';
import type { MuxServer } from '../../src/node.js';
import type { RequestProcedure } from '../../src/contract.js';
import type { Accepts, Equal, Expect, Refuse } from './expect.js';

type Sources = Parameters<typeof instrument>[0];

export type InstrumentTakesPeersAndServers = [
  Expect<Accepts<Sources, Peer>>,
  Expect<Accepts<Sources, MuxServer>>,
  Refuse<Accepts<Sources, string>>,
  Refuse<Accepts<Sources, readonly Peer[]>>,
  Expect<Equal<ReturnType<ReturnType<typeof instrument>>, void>>,
];

export type EveryOptionMayBeLeftOut = [
  Expect<Accepts<InstrumentOptions, Partial<InstrumentOptions>>>,
  Expect<Equal<Parameters<typeof instrument>[1], InstrumentOptions | undefined>>,
  Expect<Accepts<InstrumentOptions, { tracerProvider: undefined; meterProvider: undefined; methods: undefined; attributes: undefined }>>,
];

export type ProvidersAreThoseOfTheApi = [
  Expect<Accepts<InstrumentOptions, { tracerProvider: TracerProvider; meterProvider: MeterProvider }>>,
  Refuse<Accepts<InstrumentOptions, { tracerProvider: MeterProvider }>>,
  Refuse<Accepts<InstrumentOptions, { meterProvider: TracerProvider }>>,
];

export type MethodsAreAnyTextsOrAContract = [
  Expect<
    Accepts<
      InstrumentOptions,
      { methods: { add: RequestProcedure<number, number, object>; chat: { say: RequestProcedure<string, void, object> } } }
    >
  >,
  Expect<Accepts<InstrumentOptions, { methods: readonly string[] }>>,
  Expect<Accepts<InstrumentOptions, { methods: ReadonlySet<string> }>>,
  Refuse<Accepts<InstrumentOptions, { methods: readonly number[] }>>,
  Refuse<Accepts<InstrumentOptions, { methods: Record<string, () => void> }>>,
];

export type AttributesAreThoseOfTheApi = [
  Expect<Accepts<InstrumentOptions, { attributes: { 'server.address': string; 'server.port': number; tags: string[] } }>>,
  Refuse<Accepts<InstrumentOptions, { attributes: { 'server.address': () => string } }>>,
];
