import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { BehaviorSubject } from 'rxjs';
import { WebSocket } from 'ws';
import { logger } from '../../src/index.js';
import type { Frame } from '../../src/index.js';
import { inspect, Omitted, record, withoutContent, writeLine } from '../../src/inspect.js';
import type { Inspection, InspectorLine, Line } from '../../src/inspect.js';
import { serve } from '../../src/node.js';
import { createPair } from '../../src/testing.js';
import { turn, until } from '../support/socket/leaks.js';

const CLOSED: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of CLOSED.splice(0)) await close();
});

/** A server under inspection, and a stranger who sends messages of his own. */
async function attacked(): Promise<{ inspection: Inspection; stranger: WebSocket }> {
  const server = serve({ port: 0, host: '127.0.0.1', handler: (_, stream) => stream.reply(1) });
  const inspection = inspect(server);
  const { port } = await server.listening;
  const stranger = new WebSocket(`ws://127.0.0.1:${port}`, 'mux.v1.json', { perMessageDeflate: false });
  await once(stranger, 'open');
  CLOSED.push(() => {
    inspection.close();
    stranger.terminate();
    return server.close();
  });
  return { inspection, stranger };
}

const LONG = 900_000;
/** A text that no decoder can have seen before, so that each line has a message of its own to keep. */
const long = (nth: number): string => `${nth}`.padEnd(LONG, 'x');

const HOSTILE: readonly (readonly [what: string, frame: (nth: number) => object])[] = [
  ['unknown types', (nth) => ({ type: long(nth) })],
  ['reasons of resets', (nth) => ({ type: 'reset', stream: 1, code: 8, reason: long(nth) })],
  ['nonces of pings', (nth) => ({ type: 'ping', nonce: long(nth) })],
  ['nonces of pongs', (nth) => ({ type: 'pong', nonce: long(nth) })],
  ['labels', (nth) => ({ type: 'open', stream: 2 * nth + 1, end: true, payload: { op: long(nth) } })],
  [
    'labels of opens in slices',
    (nth) => ({ type: 'open', stream: 2 * nth + 1, more: true, fragment: `{"op":"${'y'.repeat(90)}","a":"${long(nth)}` }),
  ],
];

/** The memory in use. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the lines of a hostile remote', () => {
  it.each(HOSTILE)('The history of an inspected server keeps a short copy of %s', async (_, frame) => {
    const { inspection, stranger } = await attacked();
    const before = heldBytes();
    for (let nth = 0; nth < 20; nth++) stranger.send(JSON.stringify(frame(nth)));
    const ofStranger = (): readonly InspectorLine[] => inspection.lines.filter(({ d }) => d === '>');
    await until(
      () => `20 lines, got ${ofStranger().length}`,
      () => ofStranger().length === 20,
    );
    expect(ofStranger().filter((line) => writeLine(line).length > 500)).toEqual([]);
    // The server still holds the unfinished payloads of the slices, which are a connection's own.
    stranger.terminate();
    await once(stranger, 'close');
    for (let nth = 0; nth < 20; nth++) await turn();
    expect(heldBytes() - before).toBeLessThan((20 * LONG) / 4);
  });

  it('A long text of a line ends where it was cut', () => {
    const line: Line = { v: 1, t: 0, c: 1, d: '>', f: { type: 'reset', stream: 1, reason: 'x'.repeat(101), other: { a: 1 }, some: [1] } };
    expect(withoutContent(line).f).toEqual({
      type: 'reset',
      stream: 1,
      reason: `${'x'.repeat(100)}…`,
      other: new Omitted(7),
      some: new Omitted(3),
    });
  });

  it('A line without content has few fields, with short names', () => {
    const f = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`${nth}`.padEnd(2_000, 'k'), nth]));
    const row = writeLine(withoutContent({ v: 1, t: 0, c: 1, d: '>', f }));
    expect(row.length).toBeLessThan(4_000);
  });

  it('A recording without payloads keeps no long text', async () => {
    const { dialer } = createPair({
      acceptor: {
        onStream: (_, stream) => {
          stream.reset(4_242, 'x'.repeat(5_000));
        },
      },
    });
    const recording = record(dialer);
    await dialer.request('hi').catch(() => undefined);
    expect(recording.text).toContain(`"reason":"${'x'.repeat(100)}…"`);
    await dialer.close();
  });
});

describe('a redaction', () => {
  const secret = { op: 'token-of-ann', text: 'x'.repeat(3_000) };

  async function shown(payloads: boolean): Promise<readonly InspectorLine[]> {
    const { dialer } = createPair({ maxFrameBytes: 1_024, acceptor: { onStream: (_, stream) => stream.reply(null) } });
    const redact = (frame: Frame): Frame => ({ ...frame, payload: undefined, headers: null });
    const inspection = inspect(dialer, { redact });
    const asked = new BehaviorSubject(payloads);
    const live: InspectorLine[] = [];
    const subscription = inspection.feed(asked).subscribe(({ lines }) => live.push(...lines));
    await dialer.request(secret);
    await until('both opens', () => live.length >= inspection.lines.length && live.length > 2);
    subscription.unsubscribe();
    const lines = [...inspection.lines, ...live];
    inspection.close();
    await dialer.close();
    return lines;
  }

  it.each([true, false])('A redacted open in slices has no label, with payloads: %s', async (payloads) => {
    const lines = await shown(payloads);
    expect(JSON.stringify(lines)).not.toContain('token-of-ann');
    expect(lines.flatMap(({ n }) => n ?? [])).toEqual([]);
  });

  it.each<readonly [what: string, redact: () => Promise<null>]>([
    ['a promise', () => Promise.resolve(null)],
    ['a promise that rejects', () => Promise.reject(new Error('no key'))],
  ])('A redaction that returns %s keeps the frame out', async (_, redact) => {
    const { dialer } = createPair({ acceptor: { onStream: (_, stream) => stream.reply(null) } });
    const logged = jest.spyOn(logger, 'error').mockReturnValue();
    CLOSED.push(() => {
      logged.mockRestore();
    });
    const inspection = inspect(dialer, { redact: redact as never });
    await dialer.request(1);
    expect(inspection.lines).toEqual([]);
    expect(logged).toHaveBeenCalledWith('rxmux: redact failed', new TypeError('redact: expected a frame or null, got an object'));
    inspection.close();
    await dialer.close();
  });
});
