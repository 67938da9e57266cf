// Runs the cases of spec/conformance by the package's public functions. It imports no module of a platform.
import { ABSENT, Assembler, JsonCodec, MAX_FRAME_BYTES, ProtocolError, encodedLength, framesEqual, splitFrame } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import { RichCodec } from 'rxmux/rich';

const ERRORS = { ProtocolError, TypeError };
const rich = new RichCodec();
const json = new JsonCodec();
const CODECS = { json, msgpack: new MsgpackCodec() };

/** Each file's way to run one of its cases. A case that fails throws. */
const FILES = {
  encode: ({ frame, message, bytes, payload, error }) => {
    const got = outcome(error, () => json.encode(frame));
    if (error !== undefined) return;
    same(got, message);
    same(encodedLength(got), bytes);
    if (payload !== undefined) same(json.encodePayload(frame.payload), payload);
  },
  decode: ({ message, frame, error }) => {
    const got = outcome(error, () => json.decode(message));
    if (error === undefined) sameFrame(got, frame);
  },
  split: ({ frame, cap, codec, messages, sizes, error }) => {
    const slices = outcome(error, () => splitFrame(frame, cap, codec === null ? undefined : json));
    if (error !== undefined) return;
    const got = slices.map((slice) => json.encode(slice));
    same(JSON.stringify(messages === undefined ? got.map(encodedLength) : got), JSON.stringify(messages ?? sizes));
    for (const message of got) atMost(message, cap ?? MAX_FRAME_BYTES);
  },
  assemble: ({ codec, steps }) => {
    const assembler = new Assembler();
    for (const { feed, payload, pending, error, inProgress, byteLength } of steps) {
      if (feed === undefined) assembler.reset();
      else {
        const got = outcome(error, () => assembler.feed(feed, CODECS[codec]));
        if (error === undefined && pending === true) same(got, ABSENT);
        else if (error === undefined) samePayload(got, payload);
      }
      same(assembler.inProgress, inProgress);
      same(assembler.byteLength, byteLength);
    }
  },
  roundtrip: ({ codecs, frame, caps }) => {
    for (const codec of codecs.map((name) => CODECS[name])) {
      sameFrame(codec.decode(codec.encode(frame)), frame);
      for (const cap of caps) {
        const slices = splitFrame(frame, cap, codec);
        const assembler = new Assembler();
        const joined = slices.map((slice) => {
          const message = codec.encode(slice);
          atMost(message, cap);
          sameFrame(codec.decode(message), slice);
          return slices.length === 1 ? slice.payload : assembler.feed(codec.decode(message), codec);
        });
        samePayload(joined.at(-1), frame.payload);
      }
    }
  },
  rich: ({ text, value, strict, error }) => {
    const got = outcome(error, () => rich.decodePayload(text));
    if (error !== undefined) return;
    // The text distinguishes all that the codec carries.
    const written = rich.encodePayload(richValue(value));
    same(rich.encodePayload(got), written);
    if (strict === undefined) same(written, text);
  },
};

/** Runs all cases of files, whose texts are given by their names. Returns the number of cases that passed, and each failure. */
export function runCases(texts) {
  const failed = [];
  let passed = 0;
  for (const [file, text] of Object.entries(texts)) {
    for (const { name, ...row } of JSON.parse(text, revive).cases) {
      try {
        FILES[file](row);
        passed++;
      } catch (error) {
        failed.push(`${file}: ${name}: ${error.message}`);
      }
    }
  }
  return { passed, failed };
}

/** Returns what a call returns. Where it has to throw, another outcome is a failure. */
function outcome(error, call) {
  if (error === undefined) return call();
  try {
    call();
  } catch (thrown) {
    if (thrown instanceof ERRORS[error]) return undefined;
    throw thrown;
  }
  throw new Error(`expected a ${error}`);
}

function same(got, expected) {
  if (!Object.is(got, expected)) throw new Error(`expected ${String(expected)}, got ${String(got)}`);
}

function sameFrame(got, expected) {
  if (!framesEqual(got, expected)) throw new Error(`expected another frame than ${JSON.stringify(got)}`);
}

function samePayload(payload, expected) {
  sameFrame({ type: 'data', payload }, { type: 'data', payload: expected });
}

function atMost(message, cap) {
  if (encodedLength(message) > cap) throw new Error(`expected at most ${cap} bytes, got ${encodedLength(message)}`);
}

function revive(_key, value) {
  if (typeof value !== 'object' || value === null) return value;
  const [key, ...others] = Object.keys(value);
  const inner = value[key];
  if (others.length === 0 && key === '$bytes') return Uint8Array.from(inner.match(/../g) ?? [], (pair) => parseInt(pair, 16)).buffer;
  if (others.length === 0 && key === '$nested') return nested(inner);
  if (others.length === 0 && key === '$repeat' && Array.isArray(inner)) return inner[0].repeat(inner[1]);
  return value;
}

function nested(depth) {
  return depth === 1 ? [] : [nested(depth - 1)];
}

const RICH_FORMS = {
  $date: (ms) => new Date(ms ?? NaN),
  $bigint: BigInt,
  $number: Number,
  $undefined: () => undefined,
  $map: (entries) => new Map(entries.map((entry) => entry.map(richValue))),
  $set: (items) => new Set(items.map(richValue)),
  $only: (value) => ({ $: richValue(value) }),
};

function richValue(value) {
  if (Array.isArray(value)) return value.map(richValue);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (typeof value !== 'object' || value === null) return value;
  const [form, ...others] = Object.keys(value);
  if (others.length === 0 && Object.hasOwn(RICH_FORMS, form)) return RICH_FORMS[form](value[form]);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, richValue(inner)]));
}
