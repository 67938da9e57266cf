const FASTER = 'only faster: the longer way gives the same';
const NO_LOOK = 'only saves a look at those who wait, each of whom is asked for its room again';
const MEMORY = 'decides only how much memory is kept or taken, which the fuzzer and the leak suite measure';
const SEARCH = 'decides only where the search for the longest slice looks next, not what it finds';
const QUEUED = 'only faster: where nothing is in its way, a frame that is queued leaves at once too';
const NO_WINDOW = 'only looked at while bulk is held up, and the window is made with the first of it';
const AT_LOAD = 'made by hand, it fails the specs; where they load the module, the test runner cannot make it';
const NARROWING = 'is there for the compiler: the condition beside it holds in every such case';

/**
 * The mutants that no spec notices and why each is accepted: of which file, the code that is replaced and by what. Without the second,
 * all mutants of that code; `within` tells one place from another where the code alone does not.
 */
export const ACCEPTED = [
  ...of('src/wire/fragment.ts', [
    { code: "''", within: "encodedPayload ?? ''", why: 'only faster: a frame that is close to the cap is encoded to see' },
  ]),
  ...of('src/wire/fragment-cost.ts', [
    ...['false', 'to <= end'].map((mutant) => ({ code: 'to > end', mutant, why: FASTER })),
    ...['true', 'bytes >= left'].map((mutant) => ({
      code: 'bytes > left',
      mutant,
      within: 'if (bytes > left) break;',
      why: FASTER,
    })),
    { code: '{ return edgeBefore(text, Math.min(from + PIECE, text.length)); }', mutant: '{}', why: FASTER },
    { code: 'from + PIECE', mutant: 'from - PIECE', why: FASTER },
  ]),
  ...of('src/session/send/stream-queue.ts', [
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
      ['{ return text.length < LONG_UNITS ? UNESCAPED.test(text) : isLongUnescaped(text); }', '{}'],
      ...['true', 'false', 'text.length <= LONG_UNITS', 'text.length >= LONG_UNITS'].map((mutant) => ['text.length < LONG_UNITS', mutant]),
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
  ...of('src/wire/slice-form.ts', [
    { code: 'tooFar > end', why: SEARCH },
    { code: 'fitting === from', why: SEARCH },
    { code: 'fitting + tooFar', why: SEARCH },
  ]),
  ...of('src/wire/encode-into.ts', [
    { code: "typeof TextEncoder === 'function'", mutant: 'false', why: FASTER },
    { code: "'function'", mutant: '""', why: FASTER },
    { code: '{ return (text, bytes) => encoder.encodeInto(text, bytes); }', mutant: '{}', why: AT_LOAD },
    { code: '(text, bytes) => encoder.encodeInto(text, bytes)', mutant: '() => undefined', why: AT_LOAD },
    { code: '[0xef, 0xbf, 0xbd]', mutant: '[]', why: AT_LOAD },
  ]),
  ...of('src/wire/slicer.ts', [
    {
      code: 'form.bytesAround(sample) <= cap',
      mutant: 'form.bytesAround(sample) < cap',
      why: 'only faster: where there is hardly room, all slices are made to see',
    },
  ]),
  ...of('src/session/send/bulk-window.ts', [{ code: 'this.#probes.shift()?.giveUp', why: NARROWING }]),
  ...of('src/wire/frames-equal.ts', [
    ...[
      "typeof a !== 'object' || typeof b !== 'object' || a === null || b === null",
      "typeof a !== 'object' || typeof b !== 'object' || a === null",
      "typeof a !== 'object' || typeof b !== 'object'",
      "typeof a !== 'object'",
      "typeof b !== 'object'",
      'a === null',
      'b === null',
    ].map((code) => ({ code, why: 'what is no object equals none a step further on either' })),
    { code: '[b]', mutant: '[]', why: 'only faster: a shared part is walked twice, then never again' },
    { code: 'at < a.length', mutant: 'at <= a.length', why: 'behind the last element both have nothing' },
    { code: '{ return false; }', mutant: '{}', why: 'nothing is as false as false' },
    ...['left !== null && right !== null', 'left !== null', 'right !== null'].map((code) => ({
      code,
      within: 'sameBytes(left, right)',
      why: 'what has no bytes cannot be compared, and what cannot be compared is not equal',
    })),
  ]),
  ...of('src/wire/outgoing.ts', [
    { code: 'codec.encodeWith === undefined', mutant: 'false', why: 'only faster: its encode is found first' },
  ]),
  ...of('src/wire/heap.ts', [
    { code: 'last === undefined', mutant: 'false', why: NARROWING },
    { code: 'item.place > 0', mutant: 'item.place >= 0', why: 'above the first there is nobody' },
    { code: 'above === undefined', mutant: 'false', why: NARROWING },
    { code: 'above.rank <= item.rank', mutant: 'above.rank < item.rank', why: 'of equal ranks either may come first' },
    { code: 'item.rank <= below.rank', mutant: 'item.rank < below.rank', why: 'of equal ranks either may come first' },
    { code: 'left === undefined', mutant: 'false', why: NARROWING },
    { code: 'left.rank <= right.rank', mutant: 'left.rank < right.rank', why: 'of equal ranks either may come first' },
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
    { code: '(text) => Buffer.byteLength(text)', mutant: '() => undefined', why: AT_LOAD },
    { code: 'fitsWithin(text, maxBytes)', mutant: 'false', why: FASTER },
  ]),
  ...of(
    'src/wire/cross-realm.ts',
    [
      ["typeof value === 'object' && value !== null", 'true'],
      ["typeof value === 'object' && value !== null", "typeof value === 'object' || value !== null"],
      ["typeof value === 'object'", 'true'],
      ['value !== null', 'true'],
    ].map(([code, mutant]) => ({ code, mutant, why: FASTER })),
  ),
  ...of('src/wire/subprotocol.ts', [{ code: "offered?.split(',', 1)[0]?.trim", why: NARROWING }]),
  ...of('src/wire/mapping.ts', [{ code: 'value !== undefined', mutant: 'true', why: 'a field that is undefined is never asked about' }]),
  ...of('src/wire/reassembly.ts', [
    { code: 'fragment === null && !frame.more && this.#partials.size === 0', mutant: 'false', why: FASTER },
  ]),
  ...of('src/codec/json.ts', [
    { code: "typeof payload === 'string'", mutant: 'false', within: 'return quote(payload)', why: FASTER },
    { code: "'string'", within: 'return quote(payload)', why: FASTER },
    { code: "'string'", within: 'decodeCanonical(message', why: FASTER },
    { code: "typeof message === 'string'", mutant: 'false', within: 'decodeCanonical(message', why: FASTER },
    { code: "typeof message === 'string'", mutant: "typeof message !== 'string'", within: 'decodeCanonical(message', why: FASTER },
    { code: "typeof message === 'string'", mutant: 'true', within: 'decodeCanonical(message', why: 'bytes do not begin as it expects' },
  ]),
  ...of('src/codec/depth.ts', [
    { code: 'text.length > 2 * levels && isObject(value)', why: FASTER },
    { code: 'text.length > 2 * levels', why: FASTER },
    { code: '2 * levels', why: FASTER },
    { code: 'Array.isArray(value)', mutant: 'false', why: FASTER },
  ]),
  ...of('src/codec/index-keys.ts', [
    ...[
      'Number(keys[keys.length - 1]) < MOST_PLACES * keys.length',
      'keys.length - 1',
      'MOST_PLACES * keys.length',
      'isDense || Object.hasOwn(object, HIGHEST_INDEX)',
    ].map((code) => ({ code, why: MEMORY })),
  ]),
  ...of('src/codec/json-ready.ts', [
    { code: 'value.constructor === Object && value[Symbol.toStringTag] === undefined', mutant: 'false', why: FASTER },
    { code: 'value.constructor === Object', mutant: 'false', why: FASTER },
    { code: 'value[Symbol.toStringTag] === undefined', mutant: 'false', why: FASTER },
    { code: "typeof item !== 'string'", mutant: 'true', why: FASTER },
    { code: "'string'", mutant: '""', within: "typeof item !== 'string'", why: FASTER },
  ]),
  ...of('src/codec/msgpack-dialect.ts', [{ code: 'frame.fragment != null', mutant: 'true', why: FASTER }]),
  ...of('src/codec/msgpack-canonical.ts', [{ code: "typeof stream !== 'number'", mutant: 'false', why: NARROWING }]),
  ...of('src/codec/msgpack-bulk.ts', [{ code: 'byteLength <= MOST_BYTES', why: 'takes a buffer of 4 GiB to tell' }]),
  ...of('src/codec/msgpack.ts', [
    { code: 'bulk !== null', mutant: 'false', why: FASTER },
    { code: 'frame !== null', mutant: 'false', why: FASTER },
    { code: 'envelope === null', mutant: 'true', why: FASTER },
    { code: 'maxItems < 1', mutant: 'true', why: FASTER },
    { code: 'maxItems < 1', mutant: 'maxItems <= 1', why: FASTER },
    {
      code: '{ extensionCodec: TIMESTAMPS_ONLY }',
      mutant: '{}',
      why: 'its own extensions write a timestamp the same, and nothing else gets to the encoder',
    },
    { code: 'lengthAfter > 0', why: 'only faster: there is nothing to copy' },
    { code: 'buffer.byteLength > KEPT_BYTES', why: MEMORY },
    { code: 'bytes.length > KEPT_BYTES', why: MEMORY },
    { code: 'false', mutant: 'true', within: '#keysPrefixed = false;', why: FASTER },
    { code: 'blobs === 0 && !this.#keysPrefixed', mutant: 'false', why: FASTER },
    { code: 'keysPrefixed && keys.some((key) => key.startsWith(KEY_PREFIX))', why: MEMORY },
    { code: 'whole !== value', mutant: 'true', why: 'without a prefix on any key there is none to take off' },
    { code: '!mayBeIndex(text) && text.charCodeAt(0) !== 0', why: MEMORY },
    { code: '!mayBeIndex(text)', why: MEMORY },
  ]),
  ...of('src/codec/plain-copy.ts', [
    { code: '[]', within: 'path: []', why: 'the first place of the path is written before any is read' },
    { code: 'value !== null', mutant: 'true', within: "typeof value === 'object' && value !== null) return takeObject", why: NARROWING },
    { code: 'index < copy.length', mutant: 'index <= copy.length', why: 'behind the last there is nothing to copy' },
    { code: '!isScalar(value, copying.dialect)', mutant: 'true', why: FASTER },
    { code: 'written(value, dialect) === value', mutant: 'false', why: FASTER },
    { code: "'string'", mutant: '""', within: "case 'string'", why: FASTER },
    { code: 'true', mutant: 'false', within: 'isComplete = true', why: FASTER },
    { code: 'true', mutant: 'false', within: 'areKeysWritten = true', why: FASTER },
    { code: 'written(key, copying.dialect) !== key', why: FASTER },
    { code: 'isComplete && areKeysWritten', mutant: 'false', why: FASTER },
    { code: 'mayHaveIndices ??= mayBeIndex(key)', why: MEMORY },
    { code: 'mayHaveIndices === true', why: MEMORY },
    { code: 'true', within: 'mayHaveIndices === true', why: MEMORY },
    { code: 'value === undefined', mutant: 'true', within: 'isComplete = false', why: FASTER },
    { code: '!plain', mutant: 'true', why: FASTER },
    { code: 'value === null', mutant: 'false', why: NARROWING },
    { code: 'default: return false;', mutant: 'default:', why: 'what it then gives counts as false too' },
    { code: 'prototype === null', mutant: 'false', why: FASTER },
    { code: "''", within: 'throw refusal', why: 'the key of the outermost value is never read' },
  ]),
  ...of('src/codec/well-formed.ts', [
    { code: 'toWellFormed !== undefined', mutant: 'false', why: FASTER },
    { code: 'HALF_PAIR.test(text)', mutant: 'true', why: FASTER },
  ]),
  ...of('src/codec/utf8.ts', [
    { code: 'size > BYTE_BY_BYTE', why: FASTER },
    { code: 'end - at > PIECE', why: FASTER },
    {
      code: 'isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS',
      why: 'cuts at another edge, and every edge of well-formed text will do',
    },
    { code: 'edge > at - MOST_CONTINUATIONS', mutant: 'edge >= at - MOST_CONTINUATIONS', why: 'only of text that is refused either way' },
    { code: 'byte !== undefined', mutant: 'true', why: NARROWING },
    { code: '(bytes) => isDecodable(decoder, bytes)', mutant: '() => undefined', why: AT_LOAD },
    ...["'utf-8'", '{ fatal: true, ignoreBOM: true }'].map((code) => ({ code, within: 'new TextDecoder', why: FASTER })),
    { code: 'true', mutant: 'false', within: 'fatal: true, ignoreBOM', why: 'only faster, and what a mark becomes is not looked at' },
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
  ...of('src/session/streams/admission.ts', [
    { code: '`an open of stream ${id}: ${refusal}`', why: 'only the text of a line at debug' },
    { code: 'this.session.streams .get(Number(stream)) ?.resetForViolation', why: NARROWING },
    {
      code: 'excess === null',
      mutant: 'true',
      within: 'return excess === null',
      why: 'the stream has been reset: what is let through finds nobody',
    },
    { code: 'frame.stream === null', mutant: 'false', why: 'only faster: a frame is copied that need not be' },
  ]),
  ...of('src/session/send/backlog.ts', [
    { code: 'stream !== undefined', mutant: 'true', within: '&& this.pull(stream)', why: NARROWING },
    { code: 'false', mutant: 'true', within: '#relieved = false', why: NO_LOOK },
    { code: 'this.#waiters.size > 0', why: FASTER },
    { code: '!queue.empty && this.#queues.size === 1', mutant: 'false', why: 'only faster: the only queue comes behind itself' },
    { code: '!this.#relieved', mutant: 'false', why: NO_LOOK },
    { code: 'false', mutant: 'true', within: 'this.#relieved = false;', why: NO_LOOK },
    { code: 'this.#bytes >= this.#highWater', mutant: 'true', why: NO_LOOK },
    { code: 'wasTooMuch && this.#bytes < this.#highWater', mutant: 'true', why: NO_LOOK },
    { code: 'wasTooMuch && this.#bytes < this.#highWater', mutant: 'wasTooMuch || this.#bytes < this.#highWater', why: NO_LOOK },
    { code: 'this.#bytes < this.#highWater', within: 'wasTooMuch &&', mutant: 'true', why: NO_LOOK },
    { code: 'this.#bytes < this.#highWater', within: 'wasTooMuch &&', mutant: 'this.#bytes <= this.#highWater', why: NO_LOOK },
  ]),
  ...of('src/session/base/waiters.ts', [
    { code: 'this.get(stream) === undefined', mutant: 'false', why: 'only asked of a stream that waits, or by one who does not look' },
    { code: 'false', mutant: 'true', within: 'return false;', why: 'only asked of a stream that waits, or by one who does not look' },
  ]),
  ...of('src/session/streams/stream-map.ts', [
    { code: '[]', why: 'replaced by the constructor' },
    { code: 'value !== undefined', mutant: 'true', why: 'only faster: a free slot that is moved frees a slot that is free' },
    { code: 'new Array<T | undefined>(slots)', why: MEMORY },
  ]),
  ...of('src/session/base/token-bucket.ts', [
    { code: 'this.#tokens < this.rate.burst', why: FASTER },
    { code: 'this.#tokens < 1', within: 'if (this.#tokens < 1) this.#fill()', why: FASTER },
  ]),
  ...of('src/session/watch/write-progress.ts', [
    { code: 'taken <= 0', mutant: 'taken < 0', why: 'nothing taken is never more than what probes took' },
  ]),
  ...of('src/session/base/reason.ts', [{ code: 'cap >= CAP_FOR_ANY_REASON', why: FASTER }]),
  ...of('src/session/watch/watchdog.ts', [
    { code: 'false', mutant: 'true', within: 'return false;', why: 'the socket was terminated before, which ends all watches' },
    ...["'closing'", "'stall'"].map((code) => ({ code, why: 'any name will do that is its own' })),
  ]),
  ...of('src/session/watch/keepalive.ts', [
    { code: 'false', within: '#watching', why: 'nobody asks for a probe before the connection is read' },
    { code: 'this.#probedAt !== null', mutant: 'true', why: NARROWING },
    {
      code: 'this.host.lastSignOfLifeAt() < this.#probedAt',
      mutant: 'this.host.lastSignOfLifeAt() <= this.#probedAt',
      why: 'of a sign of life in the same ms nobody can say whether it answers the probe',
    },
  ]),
  ...of('src/session/send/stream-queue.ts', [{ code: 'this.#front?.frame', why: "an empty queue is nobody's, and is not asked" }]),
  ...of('src/session/base/restarting-pipeline.ts', [
    { code: 'false', within: '#broken = false;', why: 'start() sets it before anybody looks' },
  ]),
  ...of('src/session/base/precedence.ts', [{ code: 'code === null', mutant: 'false', why: NARROWING }]),
  ...of('src/session/send/scheduler.ts', [
    { code: 'this.#pipeline?.next', why: 'add drops frames while no pipeline is subscribed' },
    {
      code: '!backlog.pulled || this.#isEmpty()',
      why: 'a stream that is asked a moment earlier waits for its turn with its frame instead of without',
    },
    { code: 'this.#isDirect()', mutant: 'false', within: 'if (this.#isDirect())', why: QUEUED },
    { code: 'this.#whenFlushed.length > 0', why: 'only faster: otherwise there is nothing to run' },
    {
      code: 'backlog.queues.has(stream) || this.#isHeld(stream)',
      mutant: 'true',
      why: 'only faster: who has waited longest is looked for, instead of the one at hand; either takes its turn',
    },
    { code: 'this.#window?.awaitAnswer', why: NO_WINDOW },
  ]),
  ...of('src/session/session.ts', [{ code: '{ cause: error }', mutant: '{}', why: 'it has been logged, and nothing asks for it again' }]),
  ...of('src/session/session.ts', [
    { code: 'this.#messageBytes > this.limits.maxPayloadBytes', mutant: 'this.#messageBytes >= this.limits.maxPayloadBytes', why: FASTER },
    { code: 'this.#messageBytes > this.limits.maxPayloadBytes', mutant: 'true', why: FASTER },
    { code: "frame.type === 'open'", mutant: 'true', why: 'nothing else of a stream leaves before its open' },
  ]),
  ...of('src/session/streams/live-stream.ts', [
    { code: 'this.#attachedBytes > 0', why: FASTER },
    { code: "'lose'", within: 'if (this.closed) this.close', why: 'a closed stream only takes the cause' },
    { code: 'this.#unread !== null', mutant: 'true', why: FASTER },
    { code: "this.phase === 'idle'", mutant: 'true', why: FASTER },
    { code: 'this.#slot?.handlerStarted', why: 'only streams of the remote have a handler, and each of them has a slot' },
    { code: 'this.#slot?.handlerSettled', why: 'only streams of the remote have a handler, and each of them has a slot' },
  ]),
  ...of('src/transport/ws/write-batch.ts', [
    { code: "''", within: "?? ''", why: NARROWING },
    { code: "'latin1'", why: 'of text that is all ASCII, and of nothing else' },
    { code: 'text === null', mutant: 'true', within: 'bytesOf(', why: FASTER },
    { code: "typeof message !== 'string'", mutant: 'false', why: 'bytes that are all ASCII are the same as text' },
    { code: 'keysLeft === 0', mutant: 'true', why: FASTER },
    { code: "typeof content === 'string'", mutant: 'true', why: 'equal on Node: its `Buffer.byteLength` measures a buffer too' },
  ]),
  ...of(
    'src/transport/ws/websocket-frame.ts',
    ['false', 'at < last'].map((mutant) => ({ code: 'at <= last', mutant, why: FASTER })),
  ),
  ...of('src/transport/ws/read-bypass.ts', [
    { code: 'false', within: ' #isHeard = false;', why: 'set before each time that `ws` is given something' },
  ]),
  ...of('src/session/base/flood-guard.ts', [{ code: 'this.#unpaidBytes < BYTES_PER_PING', mutant: 'false', why: FASTER }]),
  ...of('src/session/closing.ts', [
    { code: "''", within: "#reason = ''", why: 'never read before a drain has set it' },
    { code: 'deadline >= this.#deadline', mutant: 'deadline > this.#deadline', why: 'a timer is replaced by one for the same time' },
    { code: "'flushing'", why: 'all other phases are asked for by name, this one never is' },
  ]),
  ...of('src/session/control-stream.ts', [
    { code: '++this.#pinged', why: 'each nonce differs from all others either way' },
    { code: 'Math.random().toString(36).slice(2)', why: 'each nonce differs from all others either way' },
    { code: 'nonce.length * 6 + PONG_ENVELOPE_BYTES <= maxFrameBytes', why: FASTER },
    { code: 'nonce === null', mutant: 'false', why: NARROWING },
  ]),
];

function of(file, mutants) {
  return mutants.map((mutant) => ({ file, ...mutant }));
}
