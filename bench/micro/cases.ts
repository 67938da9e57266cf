import { Decoder, Encoder } from '@msgpack/msgpack';
import { mergeMap, Subject } from 'rxjs';
import { Assembler, demultiplex, JsonCodec, MAX_FRAME_BYTES, splitFrame } from 'rxmux';
import type { Codec, Frame } from 'rxmux';
import { contract, request } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { createPair } from 'rxmux/testing';
import { objects, small, text } from '../harness/payloads.js';

/** One operation, which runs over and over. */
export interface Case {
  readonly name: string;
  readonly run: () => unknown;
}

/** An operation too short for the clock runs this many times for one sample. */
const OFTEN = 1_000;

/** Cases, each compared with the first one. */
export interface Group {
  readonly title: string;
  /** How often each case runs for one sample. Default 1. */
  readonly times?: number;
  readonly cases: readonly Case[];
}

const MIB = 1024 * 1024;
const IN_FLIGHT = 64;
const DATA: Frame = { type: 'data', stream: 1, payload: small(0) };

const encoder = new Encoder();
const decoder = new Decoder();
const codecs = [
  {
    codec: new JsonCodec(),
    encode: JSON.stringify as (value: unknown) => unknown,
    decode: (data: unknown): unknown => JSON.parse(data as string),
  },
  {
    codec: new MsgpackCodec(),
    encode: (value: unknown): unknown => encoder.encode(value),
    decode: (data: unknown): unknown => decoder.decode(data as Uint8Array),
  },
];

export const groups: readonly Group[] = [
  ...codecs.flatMap(wire),
  hop(),
  ...codecs.map(({ codec }) => opening(codec)),
  ...codecs.map(({ codec }) => calling(codec)),
];

function wire({ codec, encode, decode }: (typeof codecs)[number]): Group[] {
  const bare = { type: 'data', stream: 1, payload: small(0) };
  const message = codec.encode(DATA);
  const encoded = encode(bare);
  return [
    {
      title: `${codec.name}: encoding a frame of 93 B`,
      times: OFTEN,
      cases: [
        { name: 'the encoder alone, of the whole message', run: () => encode(bare) },
        { name: 'codec.encode', run: () => codec.encode(DATA) },
        { name: 'codec.encodePayload', run: () => codec.encodePayload(DATA.payload) },
      ],
    },
    {
      title: `${codec.name}: decoding it`,
      times: OFTEN,
      cases: [
        { name: 'the decoder alone', run: () => decode(encoded) },
        { name: 'codec.decode', run: () => codec.decode(message) },
      ],
    },
    ...[
      { what: 'text', payload: text(MIB) },
      { what: 'text beyond ASCII', payload: 'é'.repeat(MIB / 2) },
      { what: 'objects', payload: objects(MIB) },
    ].map(({ what, payload }) => slicing(codec, what, payload)),
  ];
}

function slicing(codec: Codec, what: string, payload: unknown): Group {
  const whole: Frame = { type: 'data', stream: 1, payload };
  const slices = splitFrame(whole, MAX_FRAME_BYTES, codec);
  const messages = slices.map((slice) => codec.encode(slice));
  return {
    title: `${codec.name}: 1 MiB of ${what} in ${slices.length} fragments`,
    cases: [
      { name: 'encoding it in one', run: () => codec.encodePayload(payload) },
      { name: 'splitting', run: () => splitFrame(whole, MAX_FRAME_BYTES, codec) },
      { name: 'splitting and encoding each', run: () => splitFrame(whole, MAX_FRAME_BYTES, codec).map((slice) => codec.encode(slice)) },
      { name: 'assembling', run: () => assembled(slices, codec) },
      {
        name: 'decoding each and assembling',
        run: () =>
          assembled(
            messages.map((message) => codec.decode(message)),
            codec,
          ),
      },
    ],
  };
}

function assembled(slices: readonly Frame[], codec: Codec): unknown {
  const assembler = new Assembler();
  return slices.reduce<unknown>((_last, slice) => assembler.feed(slice, codec), undefined);
}

/** One value on its way to one of many streams. */
function hop(): Group {
  const received = { frames: 0 };
  const next = (): void => {
    received.frames++;
  };
  const sinks = new Map(Array.from({ length: 1_000 }, (_, n) => [n, { next }]));
  const subject$ = new Subject<Frame>();
  subject$.subscribe(next);
  const frames$ = new Subject<Frame>();
  frames$.pipe(demultiplex(sinks)).subscribe();
  const grouped$ = new Subject<Frame>();
  grouped$
    .pipe(
      demultiplex(),
      mergeMap((stream$) => stream$),
    )
    .subscribe(next);
  for (let stream = 0; stream < 1_000; stream++) grouped$.next({ type: 'data', stream });
  return {
    title: 'one frame to its stream among 1 000',
    times: OFTEN,
    cases: [
      { name: 'Map.get and a call', run: () => sinks.get(1)?.next() },
      {
        name: 'a Subject with one subscriber',
        run: () => {
          subject$.next(DATA);
        },
      },
      {
        name: 'demultiplex over a table of sinks',
        run: () => {
          frames$.next(DATA);
        },
      },
      {
        name: 'demultiplex into groups, merged',
        run: () => {
          grouped$.next(DATA);
        },
      },
    ],
  };
}

function opening(codec: Codec): Group {
  const { dialer, acceptor } = createPair({ codec });
  acceptor.onStream((payload, stream) => stream.reply(payload));
  return {
    title: `${codec.name}: calls between two peers in memory, 64 at a time`,
    cases: [
      { name: '128 messages encoded and decoded', run: () => Array.from({ length: 128 }, () => codec.decode(codec.encode(DATA))) },
      { name: '64 requests', run: () => Promise.all(Array.from({ length: 64 }, () => dialer.request(DATA.payload))) },
      {
        name: '64 streams opened and read',
        run: () =>
          Promise.all(
            Array.from({ length: 64 }, () => new Promise<void>((complete) => dialer.open$(DATA.payload).subscribe({ complete }))),
          ),
      },
    ],
  };
}

/** A call of a contract, beside the same call by hand. */
function calling(codec: Codec): Group {
  const { dialer, acceptor } = createPair({ codec });
  acceptor.onStream((payload, stream) => stream.reply((payload as { readonly n: number }).n ** 2));
  const { calls } = createPair(contract({ square: request<{ n: number }, number>() }), { square: ({ n }) => n ** 2 }, { codec });
  return {
    title: `${codec.name}: ${IN_FLIGHT} requests in flight, in memory`,
    cases: [
      { name: 'peer.request({ op, n })', run: () => together((n) => dialer.request({ op: 'square', n })) },
      { name: 'calls.square.promise({ n }), of a contract', run: () => together((n) => calls.square.promise({ n })) },
    ],
  };
}

function together(call: (n: number) => Promise<unknown>): Promise<unknown> {
  return Promise.all(Array.from({ length: IN_FLIGHT }, (_, n) => call(n)));
}
