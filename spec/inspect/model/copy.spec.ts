import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { Lane } from '../../../examples/inspector/model/lane.js';
import { asCommand, asTest } from '../../../examples/inspector/model/copy.js';
import type { InspectorLine } from '../../../src/inspect.js';
import { line, request, timelineOf } from './lines.js';

const URL = 'ws://127.0.0.1:8080';

function laneOf(...lines: readonly InspectorLine[]): Lane {
  const lane = timelineOf(...lines).lanes[1];
  if (lane === undefined) throw new Error('expected a lane');
  return lane;
}

/** The arguments that bash passes to `npx` when it runs a command. */
function argumentsOf(command: string): readonly string[] {
  const printed = execFileSync('bash', ['-c', `npx() { printf '%s\\0' "$@"; }\n${command}`], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  return printed.split('\0').slice(0, -1);
}

describe('copying a lane as a command', () => {
  it('A request becomes a call', () => {
    expect(asCommand(laneOf(...request(0, 1, 5)), URL)).toBe(`npx rxmux call ${URL} '{"op":"sum"}'`);
  });

  it('Quotes and headers pass a shell', () => {
    const open = { type: 'open', stream: 1, end: true, payload: "it's", headers: { user: 'a b' } };
    expect(asCommand(laneOf(line(0, '>', open)), URL)).toBe(`npx rxmux push -H 'user: a b' ${URL} '"it'\\''s"'`);
  });

  it.each([
    ['line breaks', 'a\nb\r\nc'],
    ['the end of a bracketed paste', 'a\u001b[201~\u0003; echo pasted'],
    ['a delete and a C1 control', 'a\u007f\u009b1mb'],
    ['characters that reorder or separate text', 'a\u202eb\u2028c\u{e0001}d'],
    ['quotes, backslashes and an exclamation mark beside a control', `it's\\n "!" $HOME\u0007f`],
  ])('The command holds no control character, and bash restores %s', (_, value) => {
    const open = { type: 'open', stream: 1, end: true, payload: value, headers: { user: value } };
    const command = asCommand(laneOf(line(0, '>', open)), URL);
    expect(command).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(argumentsOf(command)).toEqual(['rxmux', 'push', '-H', `user: ${value}`, URL, JSON.stringify(value)]);
  });

  it('A NUL becomes a replacement character, because no argument can hold it', () => {
    const open = { type: 'open', stream: 1, end: true, headers: { user: 'a\0b' } };
    expect(argumentsOf(asCommand(laneOf(line(0, '>', open)), URL))[3]).toBe('user: a\ufffdb');
  });

  it('An address with characters of a shell is one argument', () => {
    const address = `${URL}/mux?a=1&b=2;echo $HOME`;
    expect(argumentsOf(asCommand(laneOf(...request(0, 1, 5)), address))).toEqual(['rxmux', 'call', address, '{"op":"sum"}']);
  });

  it('Several answers, or a cancel, become a stream', () => {
    const data = { type: 'data', stream: 1, payload: 1 };
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1 }), line(1, '<', data), line(2, '<', data));
    expect(asCommand(lane, URL)).toBe(`npx rxmux stream ${URL}`);
  });

  it('A fragment leaves the payload to its user', () => {
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1, fragment: '"ab', more: true }), line(1, '<', { type: 'data', stream: 1 }));
    expect(asCommand(lane, URL)).toBe(`npx rxmux call ${URL} 'PAYLOAD'`);
  });
});

describe('copying a lane as a test', () => {
  it('The rows have a character a ms, and their columns stay aligned', () => {
    const data = { type: 'data', stream: 1, payload: 1 };
    const lane = laneOf(
      line(100, '>', { type: 'open', stream: 1 }),
      line(103, '<', data),
      line(103, '<', data),
      line(108, '>', { type: 'reset', stream: 1, code: 8 }),
    );
    const rows = [...asTest(lane).matchAll(/= '\s+(\S+)'/g)].map(([, row]) => row);
    expect(rows).toEqual(['o-------r', '---(dd)--']);
  });

  it('The title of the test stays in its string literal', () => {
    const open = { type: 'open', stream: 1, end: true };
    const [first] = asTest(laneOf(line(0, '>', open, { n: "a'b\\c\rd\ne\u2028f\u202eg" }))).split('\n');
    expect(first).toBe("it('#1 a b c d e f g as it was recorded', () => {");
  });
});
