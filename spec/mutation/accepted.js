const FASTER = 'only a shortcut: the longer way has the same result';
const NO_LOOK = 'only saves a check of the waiting tasks, each of which checks its room again';
const MEMORY = 'affects only how much memory is used, which the fuzzer and the leak suite measure';
const SEARCH = 'affects only where the search for the longest slice looks next, not what it finds';
const QUEUED = 'only a shortcut: a queued frame with nothing before it leaves at once too';
const NO_WINDOW = 'used only while bulk is held up, and the first bulk makes the window';
const AT_LOAD = 'fails the specs when made by hand; the test runner cannot make it while the specs load the module';
const NARROWING = 'serves the compiler: the condition beside it holds in every such case';

/**
 * The mutants that no spec notices, each with the reason why it is accepted: its file, the replaced code and the replacement. A row
 * without a replacement stands for all mutants of that code. `within` distinguishes places with the same code.
 */
export const ACCEPTED = [
  ...of('src/wire/codec.ts', [
    { code: 'codec.fragmentCost !== undefined', mutant: 'true', why: 'only a shortcut: the search finds `encode` first' },
  ]),
  ...of('src/stream/sending.ts', [
    { code: "typeof part === 'string' && isPlain(slice)", mutant: 'false', why: FASTER },
    { code: "typeof part === 'string'", mutant: 'true', why: NARROWING },
    { code: "typeof part === 'string'", mutant: "typeof part !== 'string'", why: FASTER },
    { code: "'string'", mutant: '""', within: 'isPlain(slice)', why: FASTER },
  ]),
  ...of('src/codec/json-text.ts', [
    { mutant: '{}', within: 'from += PIECE', why: FASTER },
    ...[
      [`json.length >= LONG_UNITS && json.startsWith('"') && json.endsWith('"')`, 'false'],
      ['json.length >= LONG_UNITS', 'json.length > LONG_UNITS'],
      ['{ const text = json.slice(1, -1); if (isUnescaped(text)) return text; }', '{}'],
      ['json.slice(1, -1)', 'json'],
      ['isUnescaped(text)', 'false'],
      ['from < text.length', 'from <= text.length'],
      ['written > piece.length', 'true'],
      ['written > piece.length', 'written >= piece.length'],
      ['text.slice(from)', 'text'],
      [`hasControl(written) || piece.includes('"') || piece.includes('\\\\')`, 'true'],
      [`'\\\\'`, '""'],
      [`'"'`, '""'],
      ['true', 'false'],
      ['size + WORD_BYTES', 'size - WORD_BYTES'],
      ['at < size', 'at <= size'],
      ['(borrowed & TOP_BITS) !== 0', 'true'],
    ].map(([code, mutant]) => ({ code, mutant, why: FASTER })),
  ]),
  ...of('src/wire/fragment.ts', [
    { code: 'tooFar > end', why: SEARCH },
    { code: 'fitting === from', why: SEARCH },
    { code: 'fitting + tooFar', why: SEARCH },
  ]),
  ...of('src/wire/length.ts', [
    { code: "typeof TextEncoder === 'function'", mutant: 'false', why: FASTER },
    { code: "'function'", mutant: '""', why: FASTER },
    { code: '{ return (text, bytes) => encoder.encodeInto(text, bytes); }', mutant: '{}', why: AT_LOAD },
    { code: '(text, bytes) => encoder.encodeInto(text, bytes)', mutant: '() => undefined', why: AT_LOAD },
    { code: '[0xef, 0xbf, 0xbd]', mutant: '[]', why: AT_LOAD },
  ]),
  ...of('src/wire/fragment.ts', [
    {
      code: 'form.bytesAround(sample) <= cap',
      mutant: 'form.bytesAround(sample) < cap',
      why: 'only a shortcut: otherwise all slices are made to measure them',
    },
  ]),
  ...of('src/connection/bulk-window.ts', [{ code: 'this.#probes.shift()?.cancel', why: NARROWING }]),
  ...of('src/wire/mapping.ts', [
    ...[
      "typeof a !== 'object' || typeof b !== 'object' || a === null || b === null",
      "typeof a !== 'object' || typeof b !== 'object' || a === null",
      "typeof a !== 'object' || typeof b !== 'object'",
      "typeof a !== 'object'",
      "typeof b !== 'object'",
      'a === null',
      'b === null',
    ].map((code) => ({ code, why: 'the next step also finds a value that is no object unequal' })),
    { code: '[b]', mutant: '[]', why: 'only a shortcut: otherwise a shared part is compared twice, and never again' },
    { code: 'at < a.length', mutant: 'at <= a.length', why: 'both arrays have undefined behind their last element' },
    { code: '{ return false; }', mutant: '{}', why: 'undefined is as falsy as false' },
    ...['left !== null && right !== null', 'left !== null', 'right !== null'].map((code) => ({
      code,
      within: 'sameBytes(left, right)',
      why: 'the comparison throws for a value without bytes, which then counts as unequal',
    })),
  ]),
  ...of('src/wire/outgoing.ts', [
    { code: 'codec.encodeWith !== undefined', mutant: 'true', why: 'only a shortcut: the search finds `encode` first' },
  ]),
  ...of('src/util/collections.ts', [
    { code: 'item === undefined', mutant: 'false', why: 'a shift of an empty queue resets it, and the queue stays empty' },
    { code: 'this.#head === this.#items.length', mutant: 'false', why: MEMORY },
    { code: '{ this.#items.length = 0; this.#head = 0; }', why: MEMORY },
    { code: 'this.#head >= SLACK && this.#head * 2 >= this.#items.length', why: MEMORY },
    { code: 'this.#head >= SLACK', why: MEMORY },
    { code: 'this.#head * 2 >= this.#items.length', why: MEMORY },
    { code: 'this.#head * 2', why: MEMORY },
  ]),
  ...of('src/wire/length.ts', [
    { code: "typeof message === 'string'", mutant: 'true', why: 'equivalent on Node, whose `Buffer.byteLength` measures buffers too' },
    { code: 'message.length * MOST_BYTES_PER_UNIT <= limit', why: FASTER },
    { code: 'Buffer !== undefined', mutant: 'false', why: FASTER },
    { code: 'message.length <= limit', mutant: 'true', why: FASTER },
    { code: '(text) => Buffer.byteLength(text)', mutant: '() => undefined', why: AT_LOAD },
    { code: 'fitsWithin(text, maxBytes)', mutant: 'false', why: FASTER },
  ]),
  ...of(
    'src/util/check.ts',
    [
      ["typeof value === 'object' && value !== null", 'true'],
      ["typeof value === 'object' && value !== null", "typeof value === 'object' || value !== null"],
      ["typeof value === 'object'", 'true'],
      ['value !== null', 'true'],
    ].map(([code, mutant]) => ({ code, mutant, why: FASTER })),
  ),
  ...of('src/wire/codec.ts', [{ code: "offered?.split(',', 1)[0]?.trim", why: NARROWING }]),
  ...of('src/wire/mapping.ts', [{ code: 'value !== undefined', mutant: 'true', why: 'no caller asks about an undefined field' }]),
  ...of('src/wire/reassembly.ts', [
    { code: 'fragment === null && !frame.more && this.#partials.size === 0', mutant: 'false', why: FASTER },
  ]),
  ...of('src/codec/json.ts', [
    { code: "typeof payload === 'string'", mutant: 'false', within: 'return quote(payload)', why: FASTER },
    { code: "'string'", within: 'return quote(payload)', why: FASTER },
    { code: "'string'", within: 'decodeCanonical(message', why: FASTER },
    { code: "typeof message === 'string'", mutant: 'false', within: 'decodeCanonical(message', why: FASTER },
    { code: "typeof message === 'string'", mutant: "typeof message !== 'string'", within: 'decodeCanonical(message', why: FASTER },
    {
      code: "typeof message === 'string'",
      mutant: 'true',
      within: 'decodeCanonical(message',
      why: 'bytes do not match the expected beginning',
    },
  ]),
  ...of('src/codec/weight.ts', [
    { code: 'text.length > 2 * levels && isObject(value)', why: FASTER },
    { code: 'text.length > 2 * levels', why: FASTER },
    { code: '2 * levels', why: FASTER },
    { code: 'Array.isArray(value)', mutant: 'false', why: FASTER },
  ]),
  ...of('src/codec/indices.ts', [
    ...[
      'Number(keys[keys.length - 1]) < MOST_PLACES * keys.length',
      'keys.length - 1',
      'MOST_PLACES * keys.length',
      'isDense || Object.hasOwn(object, HIGHEST_INDEX)',
    ].map((code) => ({ code, why: MEMORY })),
  ]),
  ...of('src/codec/json-check.ts', [
    { code: 'value.constructor === Object && value[Symbol.toStringTag] === undefined', mutant: 'false', why: FASTER },
    { code: 'value.constructor === Object', mutant: 'false', why: FASTER },
    { code: 'value[Symbol.toStringTag] === undefined', mutant: 'false', why: FASTER },
    { code: "typeof item !== 'string'", mutant: 'true', why: FASTER },
    { code: "'string'", mutant: '""', within: "typeof item !== 'string'", why: FASTER },
  ]),
  ...of('src/codec/msgpack-plain.ts', [{ code: 'bytes.length >= TWO_32', why: 'only a buffer of 4 GiB could show the difference' }]),
  ...of('src/codec/msgpack.ts', [
    { code: 'bulk !== null', mutant: 'false', why: FASTER },
    { code: 'frame !== null', mutant: 'false', why: FASTER },
    { code: 'envelope === null', mutant: 'true', why: FASTER },
    { code: 'maxItems < 1', mutant: 'true', why: FASTER },
    { code: 'maxItems < 1', mutant: 'maxItems <= 1', why: FASTER },
    {
      code: '{ extensionCodec: TIMESTAMPS_ONLY }',
      mutant: '{}',
      why: 'the default extensions encode timestamps alike, and no other extension reaches the encoder',
    },
    { code: 'buffer.byteLength > KEPT_BYTES', why: MEMORY },
  ]),
  ...of('src/codec/msgpack.ts', [
    { code: 'bytes.length > KEPT_BYTES', why: MEMORY },
    { code: 'false', mutant: 'true', within: '#keysPrefixed = false;', why: FASTER },
    { code: 'blobs === 0 && !this.#keysPrefixed', mutant: 'false', why: FASTER },
    { code: 'keysPrefixed && keys.some((key) => key.startsWith(KEY_PREFIX))', why: MEMORY },
    { code: 'whole !== value', mutant: 'true', why: 'there is no prefix to remove if no key has one' },
    { code: '!mayBeIndex(text) && text.charCodeAt(0) !== 0', why: MEMORY },
    { code: '!mayBeIndex(text)', why: MEMORY },
  ]),
  ...of('src/codec/plain-copy.ts', [
    { code: '[]', within: 'path: []', why: 'the first key of the path is written before it is read' },
    { code: 'value !== null', mutant: 'true', within: "typeof value === 'object' && value !== null) return takeObject", why: NARROWING },
    { code: 'index < copy.length', mutant: 'index <= copy.length', why: 'there is no item to copy behind the last' },
    { code: '!isScalar(value)', mutant: 'true', why: FASTER },
    { code: 'wellFormed(value) === value', mutant: 'false', why: FASTER },
    { code: "'string'", mutant: '""', within: "case 'string'", why: FASTER },
    { code: 'true', mutant: 'false', within: 'isComplete = true', why: FASTER },
    { code: 'true', mutant: 'false', within: 'areKeysWritten = true', why: FASTER },
    { code: 'wellFormed(key) !== key', why: FASTER },
    { code: 'isComplete && areKeysWritten', mutant: 'false', why: FASTER },
    { code: 'mayHaveIndices ??= mayBeIndex(key)', why: MEMORY },
    { code: 'mayHaveIndices === true', why: MEMORY },
    { code: 'true', within: 'mayHaveIndices === true', why: MEMORY },
    { code: 'value === undefined', mutant: 'true', within: 'isComplete = false', why: FASTER },
    { code: '!plain', mutant: 'true', why: FASTER },
    { code: 'value === null', mutant: 'false', why: NARROWING },
    { code: 'default: return false;', mutant: 'default:', why: 'it then returns undefined, which is falsy too' },
    { code: 'prototype === null', mutant: 'false', why: FASTER },
    { code: "''", within: 'throw refused', why: 'the key of the outermost value is never read' },
  ]),
  ...of('src/codec/json-text.ts', [
    { code: 'toWellFormed !== undefined', mutant: 'false', why: FASTER },
    { code: 'HALF_PAIR.test(text)', mutant: 'true', why: FASTER },
  ]),
  ...of('src/codec/prescan.ts', [
    { code: 'size > BYTE_BY_BYTE', why: FASTER },
    {
      code: 'isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS',
      why: 'cuts the text at another edge, and every edge of well-formed text is right',
    },
    {
      code: 'edge > at - MOST_CONTINUATIONS',
      mutant: 'edge >= at - MOST_CONTINUATIONS',
      why: 'differs only for text that is refused in either case',
    },
    { code: 'byte !== undefined', mutant: 'true', why: NARROWING },
    { code: '(bytes) => isDecodable(decoder, bytes)', mutant: '() => undefined', why: AT_LOAD },
    ...["'utf-8'", '{ fatal: true, ignoreBOM: true }'].map((code) => ({ code, within: 'new TextDecoder', why: FASTER })),
    {
      code: 'true',
      mutant: 'false',
      within: 'fatal: true, ignoreBOM',
      why: 'only a shortcut, and no code reads what a byte-order mark decodes to',
    },
    ...['bytes.length - at > PIECE', 'bytes.length - at'].map((code) => ({ code, why: MEMORY })),
    {
      code: '{ let edge = at; while (isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS) edge -= 1; return edge; }',
      why: MEMORY,
    },
  ]),
  ...of('src/codec/prescan.ts', [
    { code: 'shape === undefined', mutant: 'false', why: NARROWING },
    { code: '(shape & LENGTH_BITS) !== 0', mutant: 'true', why: FASTER },
    { code: 'kind === BYTES', mutant: 'true', within: 'blobs += 1', why: FASTER },
    { code: 'blobs === 0 && bomTexts === null', mutant: 'false', why: MEMORY },
  ]),
  ...of('src/connection/inbound.ts', [
    { code: '`an open of stream ${id}: ${refusal}`', why: 'changes only the text of a log line at debug' },
    { code: 'this.host.streams .get(Number(stream)) ?.resetForViolation', why: NARROWING },
    {
      code: 'excess === null',
      mutant: 'true',
      within: 'return excess === null',
      why: 'the stream is already reset, so an admitted frame has no receiver',
    },
    { code: 'frame.stream === null', mutant: 'false', why: 'only a shortcut: otherwise a frame is copied without need' },
    { code: 'this.#messageBytes > host.limits.maxPayloadBytes', mutant: 'this.#messageBytes >= host.limits.maxPayloadBytes', why: FASTER },
    { code: 'this.#messageBytes > host.limits.maxPayloadBytes', mutant: 'true', why: FASTER },
  ]),
  ...of('src/connection/outbound.ts', [
    {
      code: 'queue.frames > 0 && this.#queues.size === 1',
      mutant: 'false',
      why: 'only a shortcut: otherwise a single queue moves behind itself',
    },
  ]),
  ...of('src/stream/sending.ts', [
    { code: 'false', mutant: 'true', within: '#relieved = false', why: NO_LOOK },
    { code: 'this.size > 0', why: FASTER },
    { code: '!this.#relieved', mutant: 'false', why: NO_LOOK },
    { code: 'false', mutant: 'true', within: 'this.#relieved = false;', why: NO_LOOK },
    ...['true', 'left < this.#highWater || left + bytes >= this.#highWater'].map((mutant) => ({
      code: 'left < this.#highWater && left + bytes >= this.#highWater',
      mutant,
      why: NO_LOOK,
    })),
    { code: 'left + bytes >= this.#highWater', mutant: 'true', why: NO_LOOK },
    ...['true', 'left <= this.#highWater'].map((mutant) => ({ code: 'left < this.#highWater', mutant, within: 'freed', why: NO_LOOK })),
  ]),
  ...of('src/connection/stream-map.ts', [
    { code: '[]', why: 'the constructor replaces it' },
    { code: 'value !== undefined', mutant: 'true', why: 'only a shortcut: moving a free slot frees a free slot' },
    { code: 'new Array<T | undefined>(slots)', why: MEMORY },
  ]),
  ...of('src/util/time.ts', [
    { code: 'this.#tokens < this.rate.burst', why: FASTER },
    { code: 'this.#tokens < 1', within: 'if (this.#tokens < 1) this.#fill()', why: FASTER },
  ]),
  ...of('src/connection/watchdog.ts', [
    { code: 'taken > 0', mutant: 'taken >= 0', why: 'an empty socket that took nothing since the last sample holds no probe' },
  ]),
  ...of('src/connection/replies.ts', [{ code: 'cap >= CAP_FOR_ANY_REASON', why: FASTER }]),
  ...of('src/connection/watchdog.ts', [
    { code: 'this.#probedAt !== null', mutant: 'true', why: NARROWING },
    {
      code: 'this.lastSignOfLifeAt() < this.#probedAt',
      mutant: 'this.lastSignOfLifeAt() <= this.#probedAt',
      why: 'a sign of life in the same ms may or may not answer the probe',
    },
  ]),
  ...of('src/stream/end.ts', [{ code: 'code === null', mutant: 'false', why: NARROWING }]),
  ...of('src/connection/outbound.ts', [
    { code: 'this.#pipeline?.next', why: '`add` drops frames while no pipeline is subscribed' },
    {
      code: 'backlog.frames > 0',
      within: 'backlog.pulls?.after',
      why: 'a stream that is asked a moment earlier waits for its turn with a queued frame',
    },
    { code: 'this.#isDirect()', mutant: 'false', within: 'if (this.#isDirect())', why: QUEUED },
    { code: 'this.bulk.window?.awaitAnswer', why: NO_WINDOW },
    { code: 'this.#whenFlushed.length > 0', why: 'only a shortcut: otherwise there is no task to run' },
  ]),
  ...of('src/stream/sending.ts', [
    { code: 'this.any', why: FASTER },
    {
      code: 'this.#mayPull(stream)',
      mutant: 'false',
      why: 'only a shortcut: otherwise the stream that waited longest is looked up, and either stream may have the turn',
    },
  ]),
  ...of('src/connection/outbound.ts', [
    { code: "slice.type === 'open' || slice.type === 'data'", mutant: 'true', within: 'streams.get', why: FASTER },
  ]),
  ...of('src/stream/receiving.ts', [
    { code: 'this.#attached > 0', why: FASTER },
    { code: "this.#payloads !== 'none'", mutant: 'true', why: FASTER },
  ]),
  ...of('src/stream/stream-core.ts', [{ code: "slice.type === 'open'", mutant: 'true', why: FASTER }]),
  ...of('src/transport/ws/write.ts', [{ code: 'keysLeft === 0', mutant: 'true', why: FASTER }]),
  ...of('src/transport/ws/write.ts', [
    { code: "typeof content === 'string'", mutant: 'true', why: 'equivalent on Node, whose `Buffer.byteLength` measures buffers too' },
  ]),
  ...of(
    'src/transport/ws/websocket-frame.ts',
    ['false', 'at < last'].map((mutant) => ({ code: 'at <= last', mutant, why: FASTER })),
  ),
  ...of('src/connection/inbound.ts', [{ code: 'this.#receivedBytes - this.#paidBytes < BYTES_PER_PING', mutant: 'false', why: FASTER }]),
  ...of('src/connection/closing.ts', [
    { code: '{ cause: error }', mutant: '{}', why: 'the error is already logged, and no code reads its cause' },
    { code: "''", within: "#reason = ''", why: 'a drain sets it before the first read' },
    { code: 'deadline >= this.#deadline', mutant: 'deadline > this.#deadline', why: 'the timer is replaced by another for the same time' },
    { code: "'flushing'", why: 'no code compares the phase with this name' },
  ]),
  ...of('src/connection/control.ts', [
    { code: '++this.#pinged', why: 'the nonces are unique in either case' },
    { code: 'nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes', why: FASTER },
    { code: 'nonce === null', mutant: 'false', why: NARROWING },
  ]),
];

function of(file, mutants) {
  return mutants.map((mutant) => ({ file, ...mutant }));
}
