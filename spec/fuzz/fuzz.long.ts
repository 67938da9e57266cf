import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { seedsOf } from './corpus.js';
import { Fuzzer } from './fuzzer.js';
import { growthsOf, riseOf, MOST_RISE } from './growth.js';
import { SUBJECTS } from './subjects.js';
import { TARGETS } from './targets.js';
import type { TargetName } from './targets.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const BATCHES = 2;
// A busy machine may need much longer than the usual second.

type Name = keyof typeof SUBJECTS;

const rows = (Object.keys(SUBJECTS) as Name[]).flatMap((name) =>
  (Object.keys(TARGETS) as TargetName[]).map((target): [name: Name, target: TargetName] => [name, target]),
);

function fuzzed(name: Name, target: TargetName, codec: Codec = SUBJECTS[name].codec, batches = BATCHES): Fuzzer {
  const seeds = seedsOf(SUBJECTS[name].codec, join(__dirname, '..'), SEED)[target];
  const fuzzer = new Fuzzer({ codec, tokens: SUBJECTS[name].tokens, target: TARGETS[target], seeds, seed: SEED });
  for (let batch = 0; batch < batches; batch++) fuzzer.step();
  return fuzzer;
}

describe(`mutated input (FUZZ_SEED=${SEED})`, () => {
  it.each(rows)('Mutated input leads to a frame or a ProtocolError and nothing else: %s %s', (name, target) => {
    const { finds, executions } = fuzzed(name, target);
    expect(finds).toEqual([]);
    expect(executions).toBeGreaterThan(1_000);
  });
});

describe('the fuzzer', () => {
  class OtherError extends JsonCodec {
    override decode(message: Message): CompleteFrame {
      const frame = super.decode(message);
      if (frame.last_stream !== null && frame.last_stream > 1_000 && frame.last_stream < 2 ** 52) throw new RangeError('planted');
      return frame;
    }
  }
  class QuotingError extends JsonCodec {
    override decodePayload(data: Message): unknown {
      if (String(data).startsWith('[[[')) throw new ProtocolError(`expected less than ${String(data).repeat(200)}`);
      return super.decodePayload(data);
    }
  }
  class NoFrame extends JsonCodec {
    override decode(message: Message): CompleteFrame {
      const frame = super.decode(message);
      return frame.nonce === '' ? { ...frame, stream: -1 } : frame;
    }
  }
  class LostTrailers extends JsonCodec {
    override encode(frame: Frame): string {
      return super.encode({ ...frame, trailers: frame.end === true ? (frame.trailers ?? null) : null });
    }
  }
  class TrimmedFragments extends JsonCodec {
    override decode(message: Message): CompleteFrame {
      const frame = super.decode(message);
      return typeof frame.fragment === 'string' ? { ...frame, fragment: frame.fragment.trim() } : frame;
    }
  }

  it.each<[fault: string, target: TargetName, codec: Codec, verdict: string]>([
    ['an error of another class at some last_stream', 'decode', new OtherError(), 'expected a ProtocolError, got RangeError: planted'],
    ['an error that quotes its input', 'decodePayload', new QuotingError(), 'expected a short message, got'],
    ['a result that is no frame', 'decode', new NoFrame(), 'expected a frame, got'],
    ['a field that is lost when the frame is sent again', 'decode', new LostTrailers(), 'to come back, got'],
    ['white space that is lost at the cut of a payload', 'reassemble', new TrimmedFragments(), 'to come back, got'],
  ])('The fuzzer finds %s', (_fault, target, codec, verdict) => {
    expect(fuzzed('json', target, codec).finds.map((find) => find.verdict)).toContainEqual(expect.stringContaining(verdict));
  });

  it('The fuzzer finds by mutation a fault that no seed shows, and shrinks the input to its cause', () => {
    expect(fuzzed('json', 'decode', new OtherError(), 0).finds).toEqual([]);
    const [find] = fuzzed('json', 'decode', new OtherError()).finds;
    expect(String(find?.input[0])).toMatch(/^\{"type":"\w?",.{0,12}"last_stream":\d{4,16}.{0,12}\}$/);
  });

  it('The fuzzer makes the same run from the same seed', () => {
    const [one, other] = [fuzzed('json', 'decode', new NoFrame()), fuzzed('json', 'decode', new NoFrame())];
    expect(one.finds).toEqual(other.finds);
    expect(one.executions).toBe(other.executions);
  });

  it('The fuzzer finds decoding in more than linear time', () => {
    class Rereading extends JsonCodec {
      read = 0;
      override decodePayload(data: Message): unknown {
        if (typeof data === 'string') for (let times = data.length; times > 0; times -= 2_048) this.#read(data);
        return super.decodePayload(data);
      }
      // Reads letter by letter. Reading by blocks would cost a long text less for each byte, and hide a part of the rise.
      #read(text: string): void {
        for (let at = 0; at < text.length; at++) this.read += text.charCodeAt(at);
      }
    }
    const decoding = { codec: new Rereading(), target: 'decodePayload' } as const;
    const [grow] = growthsOf(Buffer.from('"a"'), decoding);
    expect(grow === undefined ? NaN : riseOf(grow, decoding)).toBeGreaterThan(MOST_RISE);
  });
});
