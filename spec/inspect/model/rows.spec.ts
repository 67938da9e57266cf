import { execFileSync } from 'node:child_process';
import { describe, expect, it, jest } from '@jest/globals';
import { of, Subject } from 'rxjs';
import { contentText, missingText } from '../../../examples/inspector/model/content.js';
import { asCommand, asTest } from '../../../examples/inspector/model/copy.js';
import type { Target } from '../../../examples/inspector/model/copy.js';
import { clockText, durationText, laneState, sizeText } from '../../../examples/inspector/model/describe.js';
import { DELAY_MS, Diagram } from '../../../examples/inspector/model/diagram.js';
import { FilterError, filterOf } from '../../../examples/inspector/model/filter.js';
import type { Lane } from '../../../examples/inspector/model/lane.js';
import { Row, Rows } from '../../../examples/inspector/model/rows.js';
import { Timeline } from '../../../examples/inspector/model/timeline.js';
import { LONGEST_MS, tickMs, View } from '../../../examples/inspector/model/view.js';
import { acrossRows, alongRow, nearest } from '../../../examples/inspector/model/walk.js';
import type { Place } from '../../../examples/inspector/model/walk.js';
import { Inspector } from '../../../examples/inspector/page/inspector.js';
import { ResetCode } from '../../../src/index.js';
import { Omitted, writeLine } from '../../../src/inspect.js';
import type { InspectedPeer, InspectorBatch, InspectorLine } from '../../../src/inspect.js';
import { line, marbleOf, request, timelineOf } from './lines.js';

function rowsOf(folds: boolean, ...lines: readonly InspectorLine[]): Rows {
  const rows = new Rows(folds);
  rows.add(timelineOf(...lines).lanes);
  return rows;
}

function titles(rows: Rows): string[][] {
  return rows.all.map(({ lanes }) => lanes.map(({ title }) => title));
}

const THREE = [...request(0, 1, 10, { n: 'a' }), ...request(5, 3, 20, { n: 'b' }), ...request(1_000, 5, 1_010, { n: 'b' })];

describe('rows', () => {
  it('Each lane has a row of its own while rows do not fold', () => {
    expect(titles(rowsOf(false, ...THREE))).toEqual([['connection 1'], ['#1 a'], ['#3 b'], ['#5 b']]);
  });

  it('A folded row takes the next stream of its name once a stream has ended', () => {
    expect(titles(rowsOf(true, ...THREE))).toEqual([['connection 1'], ['#1 a'], ['#3 b', '#5 b']]);
  });

  it('A stream takes no row whose stream goes on or has only just ended', () => {
    const lines = [line(0, '>', { type: 'open', stream: 1 }), ...request(0, 3, 900), ...request(0, 5, 10), ...request(1_000, 7, 1_001)];
    expect(titles(rowsOf(true, ...lines))).toEqual([['connection 1'], ['#1'], ['#3'], ['#5', '#7']]);
  });

  it('A stream takes a row of another name once there are many rows', () => {
    const names = Array.from({ length: 20 }, (_, n) => request(n * 1_000, 2 * n + 1, n * 1_000 + 5, { n: `name ${n}` }));
    const rows = titles(rowsOf(true, ...names.flat()));
    expect(rows).toHaveLength(17);
    expect(rows[1]).toEqual(['#1 name 0', '#33 name 16', '#35 name 17', '#37 name 18', '#39 name 19']);
  });

  it('Each connection has its rows together', () => {
    const lines = [
      line(0, '>', { type: 'open', stream: 1 }),
      line(1, '>', { type: 'open', stream: 1 }, { c: 2 }),
      line(2, '>', { type: 'open', stream: 3 }),
    ];
    expect(titles(rowsOf(true, ...lines))).toEqual([['connection 1'], ['#1'], ['#3'], ['connection 2'], ['#1']]);
  });

  it('A row is seen while one of its lanes goes on and has marbles that match', () => {
    const [, row] = rowsOf(true, ...request(100, 1, 200)).all;
    expect([row?.isSeen(0, 99), row?.isSeen(0, 100), row?.isSeen(150, 160), row?.isSeen(201, 300)]).toEqual([false, true, true, false]);
    for (const lane of row?.lanes ?? []) lane.matching = 0;
    expect(row?.isSeen(150, 160)).toBe(false);
  });

  it('A row that several names share has the name of a lane that the filter shows', () => {
    const [, row] = rowsOf(true, ...request(0, 1, 10, { n: 'a' })).all;
    const [, other] = rowsOf(true, ...request(1_000, 3, 1_010, { n: 'b' })).all;
    row?.lanes.push(...(other?.lanes ?? []));
    expect(row?.laneAt(2_000)?.name).toBe('b');
    for (const lane of other?.lanes ?? []) lane.matching = 0;
    expect(row?.laneAt(2_000)?.name).toBe('a');
  });

  it('A row counts its streams in a part of time, by name and by state', () => {
    const cancel = line(1_700, '>', { type: 'reset', stream: 7, code: ResetCode.CANCEL });
    const [, row] = rowsOf(true, ...request(0, 3, 10, { n: 'b' }), ...request(1_000, 5, 1_010, { n: 'b' })).all;
    const [, other] = rowsOf(true, line(1_600, '>', { type: 'open', stream: 7 }, { n: 'a' }), cancel).all;
    row?.lanes.push(...(other?.lanes ?? []));
    expect(row?.streams(0, 2_000)).toEqual({
      count: 3,
      names: [
        ['b', 2],
        ['a', 1],
      ],
      states: new Map([
        ['cancelled', 1],
        ['completed', 2],
      ]),
    });
    expect(row?.streams(500, 1_500).count).toBe(1);
    for (const lane of other?.lanes ?? []) lane.matching = 0;
    expect(row?.streams(0, 2_000).names).toEqual([['b', 2]]);
  });

  it('A row has the newest payload of a part of time, recorded or not', () => {
    const data = (t: number, payload: unknown): InspectorLine => line(t, '<', { type: 'data', stream: 1, payload });
    const [, row] = rowsOf(
      true,
      line(0, '>', { type: 'open', stream: 1 }),
      data(10, 1),
      data(20, new Omitted(5)),
      line(30, '<', { type: 'data', stream: 1, end: true }),
    ).all;
    expect([15, 25, 40].map((end) => row?.newestPayload(0, end)?.t)).toEqual([10, 20, 20]);
    expect(row?.newestPayload(25, 40)).toBeNull();
  });

  it('Rows drop forgotten lanes, and the rows that become empty', () => {
    const rows = rowsOf(true, ...THREE);
    for (const { lanes } of rows.all) for (const lane of lanes) if (lane.openedAt < 100) lane.forgetBefore(100);
    rows.forget();
    expect(titles(rows)).toEqual([['connection 1'], ['#5 b']]);
  });

  it('Rows drop a lost connection once it is forgotten', () => {
    const timeline = timelineOf(...request(0, 1, 10));
    const rows = new Rows(true);
    rows.add(timeline.lanes);
    timeline.lost(1, 20);
    for (const lane of timeline.lanes) lane.forgetBefore(100);
    rows.forget();
    expect(titles(rows)).toEqual([]);
  });

  it('Twice as many streams at once, which have ended all, take about twice as many looks at rows', () => {
    const newest = jest.spyOn(Row.prototype, 'newest', 'get');
    const looksAt = (streams: number): number => {
      const { lanes } = timelineOf(...Array.from({ length: streams }, (_, n) => request(n, 2 * n + 1, 100_000 + n)).flat());
      newest.mockClear();
      new Rows(true).add(lanes);
      return newest.mock.calls.length;
    };
    expect(looksAt(2_000) / looksAt(1_000)).toBeLessThan(2.5);
    newest.mockRestore();
  });

  it('New streams look once at the rows of open streams, however many come at once', () => {
    const newest = jest.spyOn(Row.prototype, 'newest', 'get');
    const looksAt = (openRows: number): number => {
      const open = Array.from({ length: openRows }, (_, n) => line(n, '>', { type: 'open', stream: 2 * n + 1 }));
      const timeline = timelineOf(...open);
      const rows = new Rows(true);
      rows.add(timeline.lanes);
      const later = Array.from({ length: 50 }, (_, n) => timeline.add(line(5_000, '>', { type: 'open', stream: 10_001 + 2 * n })).lane);
      newest.mockClear();
      rows.add(later);
      return newest.mock.calls.length;
    };
    expect(looksAt(1_000) - looksAt(100)).toBe(900);
    newest.mockRestore();
  });
});

const search = marbleOf('>', { type: 'open', stream: 17, payload: { op: 'search', text: 'Red shoes' } }, { n: 'search', b: 70 });
const cancel = marbleOf('>', { type: 'reset', stream: 17, code: 8 }, { n: 'search', b: 40 });
const film = marbleOf('<', { type: 'data', stream: 4, fragment: 'abc' }, { n: 'film', b: 65_536, c: 2 });

describe('the filter', () => {
  it.each([
    ['', [search, cancel, film]],
    ['name:search', [search, cancel]],
    ['name:SEARCH code:CANCEL', [cancel]],
    ['code:8', [cancel]],
    ['size>10k', [film]],
    ['size<50', [cancel]],
    ['size:65536', [film]],
    ['size>0.05k size<1M', [search, film]],
    ['text:"red shoes"', [search]],
    ['shoes', [search]],
    ['film', [film]],
    ['-name:search', [film]],
    ['type:open', [search]],
    ['type:fragment', [film]],
    ['type:data', [film]],
    ['id:#17', [search, cancel]],
    ['connection:2', [film]],
    ['from:dialer', [search, cancel]],
    ['from:acceptor', [film]],
    ['from:A', [film]],
  ])('The filter %p shows what it says', (text, shown) => {
    expect([search, cancel, film].filter(filterOf(text))).toEqual(shown);
  });

  it.each([
    ['colour:red', "expected one of the terms name, id, connection, type, code, text, from, size, got 'colour:'"],
    ['name>5', "got 'name>'"],
    ['size>big', "expected a size such as 10k, got 'big'"],
    ['toString:1', "got 'toString:'"],
    ['from:client', "expected from:dialer or from:acceptor, got 'client'"],
  ])('The filter %p is refused with a reason', (text, reason) => {
    expect(() => filterOf(text)).toThrow(FilterError);
    expect(() => filterOf(text)).toThrow(reason);
  });
});

describe('the texts', () => {
  it.each([
    [() => durationText(0.42), '0.42 ms'],
    [() => durationText(999.6), '1.0 s'],
    [() => durationText(59_960), '1 min 0 s'],
    [() => durationText(119_600), '2 min 0 s'],
    [() => durationText(125_000), '2 min 5 s'],
    [() => clockText(83_456), '1:23.456'],
    [() => clockText(59_999.9), '1:00.000'],
    [() => clockText(59_960, 1), '1:00.0'],
    [() => clockText(59_700, 0), '1:00'],
    [() => sizeText(46), '46 B'],
    [() => sizeText(1_400), '1.4 kB'],
    [() => sizeText(999_600), '1.0 MB'],
  ])('A number is rounded before its unit is chosen: %s is %s', (text, expected) => {
    expect(text()).toBe(expected);
  });
});

describe('the view', () => {
  it('It follows the present until it is paused or moved', () => {
    const view = new View();
    expect(view.endAt(5_000)).toBe(5_000);
    view.pause(5_000);
    expect(view.endAt(9_000)).toBe(5_000);
    view.follow();
    expect(view.endAt(9_000)).toBe(9_000);
  });

  it('It moves back as far as there is something to see, and follows again at the present', () => {
    const view = new View();
    view.moveBy(-20_000, 60_000, 30_000);
    expect(view.endAt(61_000)).toBe(40_000);
    view.moveTo(0, 60_000, 30_000);
    expect(view.endAt(61_000)).toBe(40_000);
    view.moveTo(61_000, 61_000);
    expect(view.follows).toBe(true);
  });

  it('It zooms around a place that stays', () => {
    const view = new View();
    view.pause(20_000);
    const middle = view.endAt(0) - view.span / 2;
    view.zoom(0.5, 30_000, 0.5);
    expect([view.span, view.endAt(0) - view.span / 2]).toEqual([5_000, middle]);
    view.zoom(1e9, 30_000);
    expect(view.span).toBe(LONGEST_MS);
  });

  it.each([
    [1_000, 100],
    [10_000, 1_000],
    [60_000, 10_000],
    [600_000, 60_000],
  ])('Ten ticks at most share %i ms', (span, expected) => {
    expect(tickMs(span, 10)).toBe(expected);
  });
});

function walked(): { readonly diagram: Diagram; readonly first: Place } {
  const diagram = new Diagram();
  const lines = [...request(0, 1, 10), line(4, '>', { type: 'open', stream: 3 }), ...request(1_000, 5, 1_040)];
  diagram.receive({ at: 2_000, lines, dropped: 0, peers: [] }, 2_000);
  const first = nearest(diagram.rows[1], 0, 0, 2_000);
  if (first === null) throw new Error('expected a marble');
  return { diagram, first };
}

describe('walking with the keyboard', () => {
  it('It goes along a row, from the marbles of one stream to the next stream', () => {
    const places: (Place | null)[] = [walked().first];
    for (let n = 0; n < 4; n++) places.push(places[n] == null ? null : alongRow(places[n] as Place, 1));
    expect(places.map((place) => place?.marble.t)).toEqual([0, 10, 1_000, 1_040, undefined]);
    expect(places[3] == null ? null : alongRow(places[3], -1)?.marble.t).toBe(1_000);
  });

  it('It goes to the nearest marble of another row, over rows without marbles', () => {
    const { diagram, first } = walked();
    const down = acrossRows(first, diagram.rows, 1, -1, 2_000);
    expect([down?.lane.title, down?.marble.t]).toEqual(['#3', 4]);
    expect(acrossRows(first, diagram.rows, -1, -1, 2_000)).toBeNull();
    expect(down === null ? null : acrossRows(down, diagram.rows, -1, -1, 2_000)?.marble.t).toBe(0);
  });

  it('It leaves out marbles that the filter hides', () => {
    const { diagram, first } = walked();
    diagram.filterBy('from:dialer');
    expect(alongRow(first, 1)?.marble.t).toBe(1_000);
  });
});

const URL = 'ws://127.0.0.1:8080';
const TARGET: Target = { url: URL, codec: 'json' };

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
    expect(asCommand(laneOf(...request(0, 1, 5)), TARGET)).toBe(`npx rxmux call ${URL} '{"op":"sum"}'`);
  });

  it('Quotes pass a shell', () => {
    const open = { type: 'open', stream: 1, end: true, payload: "it's" };
    expect(asCommand(laneOf(line(0, '>', open)), TARGET)).toBe(`npx rxmux push ${URL} '"it'\\''s"'`);
  });

  it('Headers of the stream stay out, because the command sends its headers with the handshake', () => {
    const open = { type: 'open', stream: 1, end: true, headers: { 'user id': 7, host: 'a' } };
    expect(asCommand(laneOf(line(0, '>', open)), TARGET)).toBe(`npx rxmux push ${URL}`);
  });

  it.each([
    ['line breaks', 'a\nb\r\nc'],
    ['the end of a bracketed paste', 'a\u001b[201~\u0003; echo pasted'],
    ['a delete and a C1 control', 'a\u007f\u009b1mb'],
    ['characters that reorder or separate text', 'a\u202eb\u2028c\u{e0001}d'],
    ['quotes, backslashes and an exclamation mark beside a control', `it's\\n "!" $HOME\u0007f`],
  ])('The command holds no control character, and bash restores %s', (_, value) => {
    const open = { type: 'open', stream: 1, end: true, payload: value };
    const url = `${URL}/${value}`;
    const command = asCommand(laneOf(line(0, '>', open)), { url });
    expect(command).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(argumentsOf(command)).toEqual(['rxmux', 'push', url, JSON.stringify(value)]);
  });

  it('A NUL becomes a replacement character, because no argument can hold it', () => {
    expect(argumentsOf(asCommand(laneOf(...request(0, 1, 5)), { url: `${URL}/a\0b` }))[2]).toBe(`${URL}/a\ufffdb`);
  });

  it('An address with characters of a shell is one argument', () => {
    const address = `${URL}/mux?a=1&b=2;echo $HOME`;
    expect(argumentsOf(asCommand(laneOf(...request(0, 1, 5)), { url: address }))).toEqual(['rxmux', 'call', address, '{"op":"sum"}']);
  });

  it('Several answers, or a cancel, become a stream', () => {
    const data = { type: 'data', stream: 1, payload: 1 };
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1 }), line(1, '<', data), line(2, '<', data));
    expect(asCommand(lane, TARGET)).toBe(`npx rxmux stream ${URL}`);
  });

  it('A codec that is not json is named', () => {
    expect(asCommand(laneOf(...request(0, 1, 5)), { url: URL, codec: 'msgpack' })).toBe(
      `npx rxmux call --codec msgpack ${URL} '{"op":"sum"}'`,
    );
  });

  it('A number below zero is no option of the command', () => {
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1, payload: -5 }), line(1, '<', { type: 'data', stream: 1 }));
    expect(asCommand(lane, TARGET)).toBe(`npx rxmux call ${URL} -- '-5'`);
  });

  it.each([
    ['bytes', { data: new Uint8Array(2) }],
    ['a big integer', [1n]],
    ['a date', new Date(0)],
    ['a number that JSON lacks', NaN],
  ])('A payload with %s is left to its user', (_, payload) => {
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1, payload }), line(1, '<', { type: 'data', stream: 1 }));
    expect(asCommand(lane, TARGET)).toBe(`npx rxmux call ${URL} 'PAYLOAD'`);
  });

  it('The diagram knows the server of a connection that has left', () => {
    const diagram = new Diagram();
    const peer = { ...PEER, url: URL, codec: 'rich' };
    diagram.receive({ at: 0, lines: [...request(0, 1, 5)], dropped: 0, peers: [peer] }, 0);
    diagram.receive({ at: 50, lines: [], dropped: 0, peers: [] }, 50);
    expect(diagram.sampleOf(1)).toMatchObject({ url: URL, codec: 'rich' });
  });

  it('The diagram forgets a connection with its last marble', () => {
    const diagram = new Diagram();
    const peer = { c: 1, name: 'Peer 1', isDialer: false, state: 'closed', reconnects: 0, rttMs: null, bufferedAmount: 0 };
    const batch = { at: 0, lines: [], dropped: 0, peers: [] };
    diagram.receive({ ...batch, lines: request(0, 1, 10), peers: [peer] }, 0);
    diagram.receive({ ...batch, at: 20 }, 20);
    expect(diagram.sampleOf(1)).toEqual(peer);
    diagram.receive({ ...batch, at: 700_000, lines: [line(700_000, '>', { type: 'ping', nonce: 'a' }, { c: 2 })] }, 700_000);
    diagram.receive({ ...batch, at: 702_000, lines: [line(702_000, '<', { type: 'pong', nonce: 'a' }, { c: 2 })] }, 702_000);
    expect(diagram.sampleOf(1)).toBeUndefined();
  });

  it('A fragment leaves the payload to its user', () => {
    const lane = laneOf(line(0, '>', { type: 'open', stream: 1, fragment: '"ab', more: true }), line(1, '<', { type: 'data', stream: 1 }));
    expect(asCommand(lane, TARGET)).toBe(`npx rxmux call ${URL} 'PAYLOAD'`);
  });
});

describe('the words for a payload that was not recorded', () => {
  const payload = new Omitted(5);
  it.each<[what: string, f: InspectorLine['f'], bytes: number, isLive: boolean, words: string]>([
    ['a shown payload', { type: 'data', payload: 1 }, 50, true, ''],
    ['a frame without one', { type: 'data', end: true }, 50, true, ''],
    ['a frame of before', { type: 'data', payload }, 50, true, 'payload not recorded: payloads were hidden when it passed'],
    ['a large frame', { type: 'data', payload }, 3e6, true, 'payload not recorded: it is larger than 2 MiB'],
    ['a frame of a file', { type: 'data', payload }, 50, false, 'payload not recorded: the recording has its size alone'],
    ['a slice', { type: 'data', fragment: payload, more: true }, 50, true, 'slice not recorded'],
  ])('The page says of %s what it knows', (_, f, b, isLive, words) => {
    expect(missingText(marbleOf('<', f, { b }), isLive)).toBe(words);
  });
});

describe('the text of a payload', () => {
  it.each<[what: string, payload: unknown, text: string]>([
    ['a Map', { lots: new Map([['a', 1n]]) }, '{"lots":[["a","1n"]]}'],
    ['a Set', new Set([1, new Set()]), '[1,[]]'],
    ['a buffer', new ArrayBuffer(3), '3 bytes'],
    ['a buffer in an object', { raw: new ArrayBuffer(3) }, '{"raw":"3 bytes"}'],
  ])('The page shows the content of %s', (_, payload, text) => {
    expect(contentText(marbleOf('<', { type: 'data', payload }))).toBe(text);
  });
});

describe('the page', () => {
  it('A recording that is opened and saved has the order of its lines, within one ms too', () => {
    const open = { type: 'open', stream: 1, end: true };
    const frames = [open, { type: 'ping', nonce: 'a' }, { ...open, stream: 3 }, { type: 'data', stream: 1 }, { type: 'goaway', code: 0 }];
    const text = frames.map((f) => `${writeLine(line(5, '>', f))}\n`).join('');
    const inspector = new Inspector('URL');
    inspector.load(text);
    expect(inspector.recording()).toBe(text);
  });

  it('A recording that is opened has no peers and no address of the feed before', () => {
    const peer = { c: 1, name: 'Peer 1', isDialer: true, state: 'open', reconnects: 0, rttMs: null, bufferedAmount: 0 };
    const inspector = new Inspector('URL');
    inspector.watch(() => of({ at: 0, lines: request(0, 1, 10), dropped: 0, peers: [peer], url: 'ws://a' }));
    inspector.load(inspector.recording());
    expect(inspector.diagram.peers).toEqual([]);
    expect(inspector.diagram.timeline.lanes.map((lane) => inspector.targetOf(lane).url)).toEqual(['URL', 'URL']);
  });

  it('The marbles of a connection stay on their side of the line once its peer has left', () => {
    const batches$ = new Subject<InspectorBatch>();
    const inspector = new Inspector('URL');
    inspector.watch(() => batches$);
    const batch = { at: 0, lines: [], dropped: 0, peers: [] };
    const peer = { c: 1, name: 'Peer 1', isDialer: false, state: 'open', reconnects: 0, rttMs: null, bufferedAmount: 0 };
    batches$.next({ ...batch, lines: request(0, 1, 10), peers: [peer] });
    const sides = (): boolean[] => inspector.diagram.timeline.lanes.flatMap(({ marbles }) => marbles.map(inspector.isAbove));
    expect(sides()).toEqual([false, true]);
    batches$.next(batch);
    expect(sides()).toEqual([false, true]);
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

describe('lanes of a timeline', () => {
  it('A stream has a lane with its name, below the lane of its connection', () => {
    const { lanes } = timelineOf(...request(10, 1, 30, { n: 'sum' }));
    expect(lanes.map(({ title }) => title)).toEqual(['connection 1', '#1 sum']);
  });

  it('A lane ends once both sides have ended it', () => {
    const timeline = timelineOf(line(10, '>', { type: 'open', stream: 1, end: true }));
    const [, lane] = timeline.lanes;
    expect(lane).toMatchObject({ end: null, halfEndedAt: 10 });
    timeline.add(line(30, '<', { type: 'data', stream: 1, end: true }));
    expect(lane).toMatchObject({ end: 'completed', endedAt: 30 });
  });

  it.each([
    ['>', ResetCode.CANCEL, 'cancelled', 'cancelled, by the dialer'],
    ['<', ResetCode.NO_ERROR, 'completed', 'completed, by the acceptor'],
    ['<', ResetCode.REFUSED, 'refused', 'refused, by the acceptor'],
    ['<', ResetCode.APPLICATION_ERROR, 'failed', 'failed with APPLICATION_ERROR, by the acceptor'],
    ['>', 300, 'failed', 'failed with 300, by the dialer'],
  ] as const)('A reset of the side %s with the code %i leaves a lane that is %s', (d, code, end, words) => {
    const { lanes } = timelineOf(line(0, '>', { type: 'open', stream: 1 }), line(9, d, { type: 'reset', stream: 1, code }));
    expect(lanes[1]).toMatchObject({ end, endedAt: 9 });
    expect(lanes[1] === undefined ? '' : laneState(lanes[1])).toBe(words);
  });

  it('A late frame stays on the lane of its ended stream', () => {
    const { lanes } = timelineOf(...request(0, 1, 5), line(9, '<', { type: 'data', stream: 1 }));
    expect(lanes[1]?.marbles).toHaveLength(3);
    expect(lanes[1]?.endedAt).toBe(5);
  });

  it('The last fragment alone ends a side', () => {
    const timeline = timelineOf(line(0, '>', { type: 'open', stream: 1, fragment: 'a', more: true }));
    const last = timeline.add(line(1, '>', { type: 'data', stream: 1, fragment: 'b', end: true }));
    expect(last).toMatchObject({ kind: 'fragment', ends: true });
    expect(timeline.lanes[1]?.halfEndedAt).toBe(1);
  });

  it('A lost connection ends its lanes and no others', () => {
    const timeline = timelineOf(line(0, '>', { type: 'open', stream: 1 }), line(0, '>', { type: 'open', stream: 1 }, { c: 2 }));
    timeline.lost(1, 20);
    expect(timeline.lanes.filter(({ stream }) => stream === 1).map(({ c, end }) => [c, end])).toEqual([
      [1, 'lost'],
      [2, null],
    ]);
  });

  it('A pong finds the ping of the other side with its nonce', () => {
    const { lanes } = timelineOf(
      line(10, '>', { type: 'ping', nonce: 'a' }),
      line(12, '<', { type: 'ping', nonce: 'a' }),
      line(24, '<', { type: 'pong', nonce: 'a' }),
    );
    expect(lanes[0]?.marbles.map(({ roundTrip }) => roundTrip)).toEqual([14, null, 14]);
  });
});

describe('what a timeline keeps', () => {
  it('A timeline forgets marbles that are too old, and lanes that have ended', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    for (const each of [...request(0, 1, 5), line(6, '>', { type: 'open', stream: 3 }), line(4_000, '>', { type: 'ping', nonce: 'a' })])
      timeline.add(each);
    expect(timeline.lanes.map(({ title, marbles }) => [title, marbles.length])).toEqual([
      ['connection 1', 1],
      ['#3', 0],
    ]);
  });

  it('A timeline forgets the oldest marbles beyond its bound, and counts them', () => {
    const timeline = new Timeline({ ageMs: 1e6, marbles: 10, contentBytes: 1e6 });
    for (let n = 0; n < 30; n++) timeline.add(line(n, '>', { type: 'data', stream: 1 }));
    expect(timeline.count).toBeLessThanOrEqual(11);
    expect(timeline.forgotten).toBe(30 - timeline.count);
    expect(timeline.lanes[1]?.marbles.at(-1)?.t).toBe(29);
    expect(timeline.oldest).toBe(timeline.lanes[1]?.marbles[0]?.t);
  });

  it('A timeline forgets the oldest marbles beyond its bytes of payloads', () => {
    const timeline = new Timeline({ ageMs: 1e6, marbles: 100, contentBytes: 1_000 });
    for (let n = 0; n < 30; n++) timeline.add(line(n, '>', { type: 'data', stream: 1, payload: 'text' }, { b: 100 }));
    for (let n = 30; n < 60; n++) timeline.add(line(n, '>', { type: 'data', stream: 1, payload: new Omitted(100) }, { b: 100 }));
    const withContent = timeline.lanes[1]?.marbles.filter(({ contentBytes }) => contentBytes > 0) ?? [];
    expect(withContent.length).toBeLessThanOrEqual(11);
    expect(timeline.count).toBe(withContent.length + 30);
    expect(timeline.forgotten).toBe(60 - timeline.count);
  });

  it('A timeline forgets a lost connection once its marbles are too old', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    for (const each of request(0, 1, 5)) timeline.add(each);
    timeline.lost(1, 10);
    timeline.add(line(4_000, '>', { type: 'open', stream: 1 }, { c: 2 }));
    expect(timeline.lanes.map(({ c }) => c)).toEqual([2, 2]);
  });

  it('An open stream is forgotten if its end may be among dropped lines', () => {
    const timeline = new Timeline({ ageMs: 1_000, marbles: 100, contentBytes: 1e6 });
    timeline.add(line(0, '>', { type: 'open', stream: 1 }));
    timeline.doubt();
    timeline.add(line(5, '>', { type: 'open', stream: 3 }));
    expect(timeline.lanes.slice(1).map(laneState)).toEqual(['open, or its end was left out', 'open']);
    timeline.add(line(4_000, '>', { type: 'open', stream: 5 }));
    expect(timeline.lanes.map(({ stream }) => stream)).toEqual([null, 3, 5]);
  });
});

const PEER: InspectedPeer = { c: 1, name: 'Peer 1', state: 'open', isDialer: true, reconnects: 0, rttMs: 14, bufferedAmount: 500 };

describe('the diagram', () => {
  it('The present follows the clock of the feed, a little behind it', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 100, lines: [], dropped: 0, peers: [] }, 5_100);
    expect(diagram.now(6_100)).toBe(1_100 - DELAY_MS);
    diagram.receive({ at: 200, lines: [], dropped: 0, peers: [] }, 5_190);
    expect(diagram.now(6_100)).toBe(1_110 - DELAY_MS);
  });

  it('A batch adds lanes, sums and the names of connections', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 300, lines: request(210, 1, 230, { b: 60 }), dropped: 2, peers: [PEER] }, 300);
    expect(diagram.rows.map(({ lanes }) => lanes[0]?.title)).toEqual(['Peer 1', '#1']);
    expect(diagram.totals.all()).toEqual([{ at: 0, sent: 60, received: 1, frames: 2, resets: 0, queue: 500, rtt: 14 }]);
    expect(diagram.dropped).toBe(2);
  });

  it('The sums count what the inspected peer has sent, also where it has accepted the connection', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 300, lines: request(210, 1, 230, { b: 60 }), dropped: 0, peers: [{ ...PEER, isDialer: false }] }, 300);
    expect(diagram.totals.all()).toMatchObject([{ sent: 1, received: 60 }]);
  });

  it.each([
    ['is gone', []],
    ['waits before it dials again', [{ ...PEER, state: 'waiting' }]],
  ])('A peer that %s ends its lanes', (_, peers) => {
    const diagram = new Diagram();
    diagram.receive({ at: 50, lines: [line(40, '>', { type: 'open', stream: 1 })], dropped: 0, peers: [PEER] }, 50);
    diagram.receive({ at: 100, lines: [], dropped: 0, peers }, 100);
    expect(diagram.timeline.lanes[1]).toMatchObject({ end: 'lost', endedAt: 100 });
  });

  it('A socket that drains beside its replacement goes on until it has ended', () => {
    const diagram = new Diagram();
    const batch = { at: 50, lines: [line(40, '>', { type: 'open', stream: 1 })], dropped: 0, peers: [PEER] };
    diagram.receive(batch, 50);
    diagram.receive({ ...batch, at: 100, lines: [], peers: [{ ...PEER, c: 2, draining: [1] }] }, 100);
    expect(diagram.timeline.lanes[1]).toMatchObject({ end: null });
    diagram.receive({ ...batch, at: 150, lines: [], peers: [{ ...PEER, c: 2 }] }, 150);
    expect(diagram.timeline.lanes[1]).toMatchObject({ end: 'lost', endedAt: 150 });
  });

  describe('a page that opens after the run', () => {
    const OVER = { at: 90_000, lines: request(1_000, 1, 3_000), dropped: 0, peers: [] };
    const shown = ({ view }: Diagram, now: number): number[] => [view.endAt(now) - view.span, view.endAt(now)];

    it('The picture has the whole run, and its lanes have ended', () => {
      const diagram = new Diagram();
      diagram.receive(OVER, 90_000);
      expect(shown(diagram, 95_000)).toEqual([1_000, 3_041]);
      expect(diagram.timeline.lanes[0]).toMatchObject({ isConnection: true, end: 'lost', endedAt: 3_000 });
      diagram.receive({ ...OVER, at: 91_000, lines: request(4_000, 3, 5_000) }, 91_000);
      expect(shown(diagram, 95_000)).toEqual([1_000, 5_081]);
    });

    it('The picture follows once a peer connects', () => {
      const diagram = new Diagram();
      diagram.receive(OVER, 90_000);
      diagram.receive({ ...OVER, lines: request(4_000, 3, 5_000) }, 90_500);
      diagram.receive({ at: 91_000, lines: [], dropped: 0, peers: [PEER] }, 91_000);
      expect([diagram.view.follows, diagram.view.span]).toEqual([true, 10_000]);
      diagram.receive({ at: 92_000, lines: [], dropped: 0, peers: [] }, 92_000);
      expect(diagram.view.follows).toBe(true);
    });

    it('A picture that the user has moved stays', () => {
      const diagram = new Diagram();
      diagram.receive(OVER, 90_000);
      diagram.view.moveTo(2_000, 90_000);
      diagram.receive({ ...OVER, lines: request(4_000, 3, 5_000) }, 91_000);
      expect(diagram.view.endAt(91_000)).toBe(2_041);
      diagram.receive({ at: 92_000, lines: [], dropped: 0, peers: [PEER] }, 92_000);
      expect(diagram.view.follows).toBe(false);
    });

    it('A feed without lines follows the present', () => {
      const diagram = new Diagram();
      diagram.receive({ at: 90_000, lines: [], dropped: 0, peers: [] }, 90_000);
      expect(diagram.view.follows).toBe(true);
    });
  });

  it('A line that comes after its time was drawn raises the version', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 1_000, lines: [line(990, '>', { type: 'open', stream: 1 })], dropped: 0, peers: [PEER] }, 1_000);
    expect(diagram.version).toBe(0);
    diagram.receive({ at: 1_050, lines: [line(500, '>', { type: 'data', stream: 1 })], dropped: 0, peers: [PEER] }, 1_050);
    expect(diagram.version).toBe(1);
  });

  it('A file is shown as a whole', () => {
    const diagram = new Diagram();
    diagram.load([...request(1_000, 1, 1_400), line(3_000, '>', { type: 'ping', nonce: 'a' })]);
    const end = diagram.view.endAt(diagram.now(0));
    expect([end - diagram.view.span, end >= 3_000]).toEqual([1_000, true]);
  });

  it('A file that is too long begins with the first marble that is kept', () => {
    const diagram = new Diagram(new Timeline({ ageMs: 1_000, marbles: 10, contentBytes: 1e6 }));
    diagram.load([line(0, '>', { type: 'open', stream: 1 }), line(9_000, '>', { type: 'open', stream: 3 })]);
    expect(diagram.view.endAt(0) - diagram.view.span).toBe(8_000);
  });

  it('A second file forgets the time of the first', () => {
    const diagram = new Diagram();
    diagram.load(request(90_000, 1, 91_000));
    diagram.clear();
    diagram.load(request(1_000, 1, 1_400));
    expect(diagram.now(0)).toBe(1_400);
  });

  it('Rows that show nothing fold away', () => {
    const diagram = new Diagram();
    diagram.receive({ at: 5_000, lines: [...request(0, 1, 10), ...request(4_000, 3, 4_100)], dropped: 0, peers: [] }, 5_000);
    diagram.fold(false);
    expect(diagram.seenRows(3_000, 5_000).map((row) => row.newest?.title)).toEqual(['connection 1', '#3']);
    diagram.filterBy('id:1');
    expect(diagram.seenRows(0, 5_000).map((row) => row.newest?.title)).toEqual(['connection 1', '#1']);
  });
});
