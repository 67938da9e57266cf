import { describe, expect, it } from '@jest/globals';
import { describeLine, Omitted, readLine, readLines, withoutContent, writeLine } from '../../src/inspect.js';
import type { Line } from '../../src/inspect.js';
import fc from '../support/fast-check.js';

const line = (f: Line['f']): Line => ({ v: 1, t: 3, c: 1, d: '>', f });
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);

/** Values of every codec, and objects that look like the forms of a recording. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 1 }),
    fc.double(),
    fc.bigInt(),
    fc.uint8Array(),
    fc.date({ noInvalidDate: true }),
    fc.constantFrom(-0, NaN, Infinity),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('$base64', '$date', '$size', '$number', '$bigint', '$object', '__proto__', 'a'), tie('value'), {
      maxKeys: 2,
    }),
  ),
}));

describe('a line of a recording', () => {
  it('A line of a recording reads as it was written, whatever its payload', () => {
    fc.assert(
      fc.property(value, (payload) => {
        const written = line({ type: 'data', stream: 1, payload });
        const text = writeLine(written);
        expect(text).not.toContain('\n');
        expect(readLine(text)).toEqual(written);
      }),
    );
  });

  it('A line of a recording has bytes in base64, from any view of them', () => {
    const view = new DataView(bytes.buffer, 1, 2);
    expect(writeLine(line({ type: 'data', fragment: view }))).toContain('"fragment":{"$base64":"AQI="}');
    expect(JSON.parse(writeLine(line({ payload: bytes })))).toMatchObject({
      f: { payload: { $base64: Buffer.from(bytes).toString('base64') } },
    });
  });

  it('A line of a recording without its content has its size', () => {
    const omitted = (payload: unknown) => withoutContent(line({ type: 'open', stream: 1, payload, headers: { a: 1 } }));
    expect(omitted('secret')).toEqual(line({ type: 'open', stream: 1, payload: new Omitted(6), headers: new Omitted(7) }));
    expect(omitted(bytes).f).toMatchObject({ payload: new Omitted(70_000) });
    expect(omitted({ a: [1] }).f).toMatchObject({ payload: new Omitted('{"a":[1]}'.length) });
    expect(withoutContent(line(null))).toEqual(line(null));
    expect(readLine(writeLine(omitted('secret')))).toEqual(omitted('secret'));
    expect(withoutContent(omitted('secret'))).toEqual(omitted('secret'));
  });

  it.each([
    [line({ type: 'open', stream: 1, end: true, payload: 'ab' }), '0.003 #1 > open 1 2 units end'],
    [line({ type: 'reset', stream: 1, code: 2 }), '0.003 #1 > reset 1 code=2'],
    [line({ type: 'ping', nonce: 'a' }), '0.003 #1 > ping nonce="a"'],
    [line(null), '0.003 #1 > a message that does not decode'],
    [line({ stream: 1, payload: 'ab' }), '0.003 #1 > a frame without a type 1 2 units'],
    [line({ type: { a: 1 }, stream: [2] }), '0.003 #1 > a frame without a type [2]'],
    [line({ type: 'open 1 end', stream: 3 }), '0.003 #1 > "open 1 end" 3'],
    [line({ type: '\u001b[2J\u009b2J\n0.004' }), '0.003 #1 > "\\u001b[2J\\u009b2J\\n0.004"'],
    [line({ type: 'reset', stream: 1, reason: '\u001b]0;x\u0007\u202e\r' }), '0.003 #1 > reset 1 reason="\\u001b]0;x\\u0007\\u202e\\r"'],
    [line({ type: 'open', '\u001b[2J': true, '\u009b': 1 }), '0.003 #1 > open "\\u001b[2J" "\\u009b"=1'],
    [line({ type: 'open', stream: '\u009b', headers: { a: '\u009b' } }), '0.003 #1 > open "\\u009b" headers={"a":"\\u009b"}'],
    [line({ type: 'ping', nonce: 'n'.repeat(101) }), `0.003 #1 > ping nonce="${'n'.repeat(100)}…"`],
  ])('A line of a recording describes itself: %#', (given, text) => {
    expect(describeLine(given)).toBe(text);
  });

  it('A line of many fields describes itself in a row of 1 000 characters', () => {
    const f = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`field${nth}`, nth]));
    expect(describeLine(line({ type: 'open', ...f })).length).toBeLessThanOrEqual(1_001);
  });

  it.each([
    'null',
    '{}',
    '{"v":2,"t":3,"c":1,"d":">","f":null}',
    '{"v":1,"t":3,"c":1,"d":"tx","f":null}',
    '{"v":1,"t":3,"c":1,"d":">"}',
    '{"v":1,"t":3,"c":1,"d":">","f":[1]}',
  ])('JSON of another form is no line of a recording: %s', (text) => {
    expect(() => readLine(text)).toThrow(new TypeError(`expected a line of a recording with v, t, c, d and f, got ${text}`));
  });

  it('A text that is no JSON is no line of a recording', () => {
    expect(() => readLine('v=1')).toThrow(SyntaxError);
  });

  it.each([
    ['no JSON', 'v=1', SyntaxError],
    ['a cut line', '{"v":1,"t":3,"c', SyntaxError],
    ['JSON of another form', '{"v":2}', TypeError],
  ])('A wrong line of a recording is named by its number: %s', (_, wrong, type) => {
    const text = `${writeLine(line(null))}\n\n${wrong}\n`;
    expect(() => readLines(text)).toThrow(type);
    expect(() => readLines(text)).toThrow(/^line 3: /);
  });
});
