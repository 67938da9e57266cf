import { concat, lastValueFrom, NEVER, of, take } from 'rxjs';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { createPair } from '../../src/testing.js';
import { CloseCode } from '../../src/wire/codes.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { ResetCode } from '../../src/wire/codes.js';
import { codeIn, fences, tableBelow } from './markdown.js';
import { collectLogs } from '../support/peer/logs.js';

const PAGE = 'docs/PROTOCOL.md';
/** A close code of the WebSocket library, which this library neither sends nor interprets. */
const OF_THE_WEBSOCKET_LIBRARY = 1007;
const blocks = fences(PAGE, 'text').map(({ text }) => text.trimEnd().split('\n'));

describe('tables of PROTOCOL.md', () => {
  it('PROTOCOL.md names the fields of a frame in order', () => {
    const fields = tableBelow(PAGE, 'Frames and envelopes').map(([name = '']) => codeIn(name)[0]);
    expect(fields).toEqual(Object.keys(completeFrame({ type: 'ping' })));
  });

  it('PROTOCOL.md lists every reset code', () => {
    const codes = tableBelow(PAGE, 'Resets').map(([name = '', code]) => [codeIn(name)[0], Number(code)]);
    expect(Object.fromEntries(codes)).toEqual(ResetCode);
  });

  it('PROTOCOL.md lists every close code', () => {
    const codes = tableBelow(PAGE, 'The connection').flatMap(([codes = '']) => codes.split(', ').map(Number));
    expect(codes.sort()).toEqual([...Object.values(CloseCode), OF_THE_WEBSOCKET_LIBRARY].sort());
  });
});

describe('cuts of PROTOCOL.md', () => {
  const json = new JsonCodec();
  const msgpack = new MsgpackCodec();
  const cuts = blocks.filter(([first]) => first?.startsWith('cap ')).map(([cap = '', ...lines]) => ({ cap, lines }));
  const alphabet: Frame = { type: 'data', stream: 1, payload: 'abcdefghijklmnopqrstuvwxyz', end: true };

  it.each(cuts.filter(({ lines }) => lines[0]?.endsWith('}')))(
    '`splitFrame` cuts text as PROTOCOL.md shows: $lines.0',
    ({ cap, lines: [whole = '', ...shown] }) => {
      const frame = json.decode(whole.slice(whole.indexOf('{')));
      const print = (slice: Frame): string => `${encodedLength(json.encode(slice))} ${json.encode(slice)}`;
      expect(print(frame)).toBe(whole);
      expect(splitFrame(frame, Number(cap.slice(4)), json).map(print)).toEqual(shown);
    },
  );

  it.each(cuts.filter(({ lines }) => !lines[0]?.endsWith('}')))('`splitFrame` cuts bytes as PROTOCOL.md shows', ({ cap, lines }) => {
    const shown = lines.map((line) => line.split(' ')).map(([length = '', ...bytes]) => `${length} ${bytes.join('')}`);
    const messages = splitFrame(alphabet, Number(cap.slice(4)), msgpack).map((slice) => msgpack.encode(slice));
    expect(messages.map((message) => `${message.byteLength} ${Buffer.from(message).toString('hex')}`)).toEqual(shown);
  });

  it('PROTOCOL.md shows four cuts', () => {
    expect(cuts).toHaveLength(4);
  });
});

describe('conversation of PROTOCOL.md', () => {
  collectLogs();

  it('Two peers send the frames that PROTOCOL.md shows', async () => {
    const { dialer, acceptor, link } = createPair();
    const said: string[] = [];
    link.messages$.subscribe(({ from, frame }) => said.push(`${from === 'dialer' ? '>' : '<'} ${String(dialer.codec.encode(frame))}`));
    acceptor.onStream(({ op, of: numbers }: { readonly op: string; readonly of: readonly number[] }, stream) => {
      if (op === 'sum') return stream.reply(numbers.reduce((sum, number) => sum + number));
      if (op === 'count') return stream.sendAll(concat(of(1, 2), NEVER));
      throw new RangeError('out of range');
    });

    await dialer.request({ op: 'sum', of: [1, 2] }, { headers: { trace: 't1' } });
    await lastValueFrom(dialer.open$({ op: 'count' }).pipe(take(2)));
    const heard = new Promise((resolve) => dialer.onStream(resolve));
    acceptor.notify('news');
    await heard;
    await dialer.request({ op: 'fail' }).catch(() => undefined);
    await dialer.close();
    expect(said).toEqual(blocks.find(([first]) => first?.startsWith('> ')));
  });
});
