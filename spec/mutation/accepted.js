const FASTER = 'only faster: the longer way gives the same';
const NO_LOOK = 'only saves a look at those who wait, each of whom is asked for its room again';
const MEMORY = 'decides only how much memory is kept or taken, which the fuzzer and the leak suite measure';
const NARROWING = 'is there for the compiler: the condition beside it holds in every such case';

/**
 * The mutants that no spec notices and why each is accepted: of which file, the code that is replaced and by what. Without the second,
 * all mutants of that code; `within` tells one place from another where the code alone does not.
 */
export const ACCEPTED = [
  ...of('src/wire/fragment.ts', [
    { code: "''", within: "encodedPayload ?? ''", why: 'only faster: a frame that is close to the cap is encoded to see' },
  ]),
  ...of('src/wire/fifo.ts', [
    { code: 'item === undefined', mutant: 'false', why: 'an empty queue that is shifted starts over, still empty' },
    { code: 'this.#head === this.#items.length', mutant: 'false', why: MEMORY },
    { code: '{ this.#items.length = 0; this.#head = 0; }', why: MEMORY },
    { code: 'this.#head >= SLACK && this.#head * 2 >= this.#items.length', why: MEMORY },
    { code: 'this.#head >= SLACK', why: MEMORY },
    { code: 'this.#head * 2 >= this.#items.length', why: MEMORY },
    { code: 'this.#head * 2', why: MEMORY },
  ]),
  ...of('src/wire/length.ts', [
    { code: "typeof message === 'string'", mutant: 'true', why: 'equal on Node: its `Buffer.byteLength` measures a buffer too' },
    { code: 'message.length * MOST_BYTES_PER_UNIT <= limit', why: FASTER },
    { code: 'Buffer !== undefined', mutant: 'false', why: FASTER },
    { code: 'message.length <= limit', mutant: 'true', why: FASTER },
    { code: 'fitsWithin(text, maxBytes)', mutant: 'false', why: FASTER },
  ]),
  ...of('src/wire/mapping.ts', [{ code: 'value !== undefined', mutant: 'true', why: 'a field that is undefined is never asked about' }]),
  ...of('src/wire/reassembly.ts', [
    { code: 'fragment === null && !frame.more && this.#partials.size === 0', mutant: 'false', why: FASTER },
  ]),
  ...of('src/codec/json-ready.ts', [
    { code: "typeof item !== 'string'", mutant: 'true', why: FASTER },
    { code: "'string'", mutant: '""', within: "typeof item !== 'string'", why: FASTER },
  ]),
  ...of('src/codec/msgpack.ts', [
    { code: 'behind > 0', why: 'only faster: there is nothing to copy' },
    { code: 'buffer.byteLength > KEPT_BYTES', why: MEMORY },
    { code: 'bytes.length > KEPT_BYTES', why: MEMORY },
    { code: 'false', mutant: 'true', within: 'marked = false;', why: FASTER },
    { code: 'blobs === 0 && !marked', mutant: 'false', why: FASTER },
    { code: '{ [HIGHEST_INDEX]: null }', mutant: '{}', why: MEMORY },
    { code: 'marked && keys.some((key) => key.startsWith(MARK))', why: MEMORY },
    { code: 'whole !== value', mutant: 'true', why: 'without a mark on any key there is none to take off' },
    { code: '!(first >= DIGIT_0 && first <= DIGIT_9) && first !== 0', why: MEMORY },
  ]),
  ...of('src/codec/plain-copy.ts', [
    { code: '[]', within: 'path: []', why: 'the first place of the path is written before any is read' },
    { code: 'value !== null', mutant: 'true', within: "typeof value === 'object' && value !== null) return takeObject", why: NARROWING },
    { code: 'index < copy.length', mutant: 'index <= copy.length', why: 'behind the last there is nothing to copy' },
    { code: '!isScalar(value, copying.dialect)', mutant: 'true', why: FASTER },
    { code: 'true', mutant: 'false', within: 'isComplete = true', why: FASTER },
    { code: 'value === undefined', mutant: 'true', within: 'isComplete = false', why: FASTER },
    { code: '!plain', mutant: 'true', why: FASTER },
    { code: 'value === null', mutant: 'false', why: NARROWING },
    { code: 'default: return false;', mutant: 'default:', why: 'what it then gives counts as false too' },
    { code: 'prototype === null', mutant: 'false', why: FASTER },
    { code: "''", within: 'throw refusal', why: 'the key of the outermost value is never read' },
  ]),
  ...of('src/codec/prescan.ts', [
    { code: 'shape === undefined', mutant: 'false', why: NARROWING },
    { code: '(shape & LENGTH_BITS) !== 0', mutant: 'true', why: FASTER },
  ]),
  ...of('src/session/admission.ts', [
    { code: 'frame.stream === null', mutant: 'false', why: 'only faster: a frame is copied that need not be' },
  ]),
  ...of('src/session/backlog.ts', [
    { code: 'false', mutant: 'true', within: '#relieved = false', why: NO_LOOK },
    { code: '!lane.empty && this.#lanes.size === 1', mutant: 'false', why: 'only faster: the only lane comes behind itself' },
    { code: '!this.#relieved', mutant: 'false', why: NO_LOOK },
    { code: 'false', mutant: 'true', within: 'this.#relieved = false;', why: NO_LOOK },
    { code: 'this.#bytes >= sendHighWaterBytes', mutant: 'true', why: NO_LOOK },
    { code: 'wasTooMuch && this.#bytes < sendHighWaterBytes', mutant: 'true', why: NO_LOOK },
    { code: 'wasTooMuch && this.#bytes < sendHighWaterBytes', mutant: 'wasTooMuch || this.#bytes < sendHighWaterBytes', why: NO_LOOK },
    { code: 'this.#bytes < sendHighWaterBytes', within: 'wasTooMuch &&', mutant: 'true', why: NO_LOOK },
    { code: 'this.#bytes < sendHighWaterBytes', within: 'wasTooMuch &&', mutant: 'this.#bytes <= sendHighWaterBytes', why: NO_LOOK },
  ]),
  ...of('src/session/bucket.ts', [
    { code: 'this.#tokens >= this.rate.burst', why: FASTER },
    { code: '{ this.#filledAt = asyncScheduler.now(); return; }', why: FASTER },
  ]),
  ...of('src/session/flood.ts', [{ code: 'this.#unpaidBytes < BYTES_PER_PING', mutant: 'false', why: FASTER }]),
  ...of('src/session/closing.ts', [
    { code: "''", within: "#reason = ''", why: 'never read before a drain has set it' },
    { code: 'deadline >= this.#deadline', mutant: 'deadline > this.#deadline', why: 'a timer is replaced by one for the same time' },
    { code: "'final'", why: 'all other phases are asked for by name, this one never is' },
  ]),
  ...of('src/session/connection.ts', [
    { code: "''", within: "#probe = ''", why: 'no ping has this nonce' },
    { code: '++this.#pinged', why: 'each nonce differs from all others either way' },
    { code: 'Math.random().toString(36).slice(2)', why: 'each nonce differs from all others either way' },
    { code: 'nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes', why: FASTER },
    { code: 'nonce === null', mutant: 'false', why: NARROWING },
  ]),
];

function of(file, mutants) {
  return mutants.map((mutant) => ({ file, ...mutant }));
}
