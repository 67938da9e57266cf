import { describe, expect, it } from '@jest/globals';
import { concat, lastValueFrom, NEVER, of, take } from 'rxjs';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { KEEPALIVE } from '../../src/connection/watchdog.js';
import { UPGRADE_OPTIONS } from '../../src/node/accept.js';
import { NODE_CONNECT_OPTIONS } from '../../src/node/connect.js';
import { LISTEN_OPTIONS } from '../../src/node/listen.js';
import { TOTAL_LIMITS } from '../../src/acceptor/totals.js';
import { ORIGIN_RULES } from '../../src/acceptor/origin.js';
import { CONNECT_OPTIONS } from '../../src/peer/connect.js';
import { Backoff, RECONNECT } from '../../src/peer/dial/backoff.js';
import { CLOSE_OPTIONS, PEER_OPTIONS } from '../../src/peer/options.js';
import { RETRY } from '../../src/peer/safe-retry.js';
import { createPair } from '../../src/testing.js';
import { LINE_OPTIONS } from '../../src/testing/link.js';
import { DEFLATE } from '../../src/transport/ws/deflate.js';
import { CloseCode, ResetCode } from '../../src/wire/codes.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { LIMITS } from '../../src/wire/limits.js';
import { collectLogs } from '../support/peer/logs.js';
import { docstringsOf } from './docstrings.js';
import type { Docstring } from './docstrings.js';
import { codeIn, fences, tableBelow, writeTable } from './markdown.js';
import { grouped, spelledDefault } from './spelled.js';

describe('options', () => {
  type Declared = Readonly<Record<string, readonly [read: (name: string, given: never) => unknown, byDefault: unknown]>>;

  /** An interface of options, and the table that declares them. */
  interface Interface {
    readonly type: string;
    readonly file: string;
    readonly declared: Declared;
    /** The functions that take the options; missing where the guide has no row for each. */
    readonly of?: string;
    /** Stands before each name, as in errors. */
    readonly path?: string;
  }

  const INTERFACES: readonly Interface[] = [
    { type: 'PeerOptions', file: 'peer/options.ts', declared: PEER_OPTIONS, of: 'all' },
    { type: 'Keepalive', file: 'connection/watchdog.ts', declared: KEEPALIVE, of: 'all', path: 'keepalive.' },
    { type: 'ConnectOptions', file: 'peer/connect.ts', declared: CONNECT_OPTIONS, of: '`connect`' },
    { type: 'Reconnect', file: 'peer/dial/backoff.ts', declared: RECONNECT, of: '`connect`', path: 'reconnect.' },
    { type: 'NodeConnectOptions', file: 'node/connect.ts', declared: NODE_CONNECT_OPTIONS, of: '`connect` of Node' },
    { type: 'ServeOptions', file: 'node/mux-server.ts', declared: LISTEN_OPTIONS, of: '`serve`' },
    { type: 'ServeBase', file: 'node/mux-server.ts', declared: LISTEN_OPTIONS, of: '`serve`' },
    { type: 'UpgradeOptions', file: 'node/accept.ts', declared: UPGRADE_OPTIONS, of: '`serve`, `handleUpgrade`' },
    { type: 'OriginRules', file: 'acceptor/origin.ts', declared: ORIGIN_RULES, of: '`serve`, `handleUpgrade`', path: 'origins.' },
    { type: 'JudgedOptions', file: 'acceptor/options.ts', declared: UPGRADE_OPTIONS, of: '`serve`, `handleUpgrade`' },
    { type: 'AcceptedOptions', file: 'acceptor/options.ts', declared: UPGRADE_OPTIONS, of: '`serve`, `handleUpgrade`, `accept`' },
    {
      type: 'DeflateOptions',
      file: 'transport/ws/deflate.ts',
      declared: DEFLATE,
      of: '`serve`, `handleUpgrade`, `connect` of Node',
      path: 'perMessageDeflate.',
    },
    { type: 'CloseOptions', file: 'peer/options.ts', declared: CLOSE_OPTIONS },
    { type: 'Retry', file: 'peer/safe-retry.ts', declared: RETRY },
    { type: 'Limits', file: 'wire/limits.ts', declared: LIMITS },
    { type: 'TotalLimits', file: 'acceptor/totals.ts', declared: TOTAL_LIMITS },
    { type: 'LineOptions', file: 'testing/link.ts', declared: LINE_OPTIONS },
  ];
  /** Programs do not need it. */
  const NOT_IN_THE_GUIDE = 'maxFrameBytes';
  const TABLES_OF_THEIR_OWN: Readonly<Record<string, string>> = {
    limits: '[Limits](security.md#limits)',
    totalLimits: '[All connections together](security.md#all-connections-together)',
    helloLimits: '[Before the hello](security.md#before-the-hello)',
  };
  const GUIDE = ['docs/guide/options.md', 'Options of a peer'] as const;

  /** One option of an interface, as it is declared and as its docstring says. */
  interface OptionDoc extends Interface {
    readonly name: string;
    readonly doc: Docstring;
    /** The docstring of the interface. */
    readonly about: string;
    /** The smallest number that the option takes; 0 for options of other kinds. */
    readonly smallest: number;
    readonly byDefault: unknown;
  }

  const OPTIONS: readonly OptionDoc[] = INTERFACES.flatMap((of) => {
    const { '': own, ...docs } = Object.fromEntries(docstringsOf(of.file, of.type));
    return Object.entries(docs).map(([name, doc]) => {
      const { [name]: option } = of.declared;
      if (option === undefined) throw new Error(`expected ${of.type}.${name} to be declared`);
      const [read, byDefault] = option;
      return { ...of, name, doc, about: own?.text ?? '', smallest: smallestOf(read), byDefault };
    });
  });

  /** The functions that take an option, without those whose own interface overrides it. */
  function takersOf(option: OptionDoc): string[] {
    const overriding = OPTIONS.slice(0, OPTIONS.indexOf(option)).filter(({ name, path }) => name === option.name && path === option.path);
    return functionsIn(option.of).filter((taker) => !overriding.some(({ of }) => functionsIn(of).includes(taker)));
  }

  function functionsIn(of = ''): string[] {
    return of.split(', ');
  }

  const rowsOf = (option: OptionDoc): string[] => {
    const { name, path = '', doc } = option;
    return [`\`${path}${name}\``, takersOf(option).join(', '), doc.says, TABLES_OF_THEIR_OWN[name] ?? doc.byDefault];
  };

  /** The rows of the guide: the options of an object follow the option that holds it. */
  function guideRows(): string[][] {
    const rows = OPTIONS.filter(({ of, name }) => of !== undefined && name !== NOT_IN_THE_GUIDE);
    const outer = rows.filter(({ path }) => path === undefined);
    const first = (row: OptionDoc): boolean => outer.find(({ name }) => name === row.name) === row;
    return outer.flatMap((row) => [row, ...rows.filter(({ path }) => first(row) && path === `${row.name}.`)]).map(rowsOf);
  }

  describe('the docstrings of options', () => {
    it.each(INTERFACES)('Every option of $type has a docstring', ({ declared }) => {
      const documented = OPTIONS.filter((option) => option.declared === declared).map(({ name }) => name);
      expect(documented.sort()).toEqual(Object.keys(declared).sort());
    });

    it.each(OPTIONS)('The docstring of $type.$name ends with its default', ({ name, doc, byDefault }) => {
      const spelled = spelledDefault(name, byDefault);
      expect(doc.byDefault.slice(0, spelled?.length ?? 1)).toEqual(spelled ?? expect.stringMatching(/./));
    });

    it.each(OPTIONS.filter(({ name }) => name.endsWith('Ms')))('The docstring of $type.$name says that it is in ms', ({ doc, about }) => {
      expect(`${doc.text} ${about}`).toMatch(/\bms\b/);
    });

    it.each(OPTIONS.filter(({ smallest }) => smallest > 0))(
      'The docstring of $type.$name says the smallest number',
      ({ doc, smallest }) => {
        expect(doc.text).toContain(`At least ${grouped(smallest)}.`);
      },
    );

    it('The longest delay of a dialer is the one of its docstring', () => {
      const docs = docstringsOf('peer/dial/backoff.ts', 'Reconnect');
      expect(docs.get('maxDelayMs')?.byDefault).toMatch(`${spelledDefault('maxDelayMs', new Backoff({}).maxDelayMs)}; `);
    });
  });

  // `TABLES=write npx jest spec/docs/options` writes the table after a change of a docstring.
  if (process.env['TABLES'] === 'write') writeTable(...GUIDE, guideRows());

  describe('the guide', () => {
    it('The table of options is made of the docstrings', () => {
      expect(tableBelow(...GUIDE)).toEqual(guideRows());
    });

    it('The table of options has each option of each function once', () => {
      const rows = tableBelow(...GUIDE).flatMap(([name, of]) => functionsIn(of).map((taker) => `${name} ${taker}`));
      expect(new Set(rows).size).toBe(rows.length);
    });

    it('The table of call options has the defaults of the docstrings', () => {
      const docs = [
        ...docstringsOf('peer/calls.ts', 'OpenOptions'),
        ...docstringsOf('peer/calls.ts', 'InputOptions'),
        ...docstringsOf('stream/feed.ts', 'FeedOptions'),
      ].filter(([name]) => name !== '');
      const rows = tableBelow('docs/guide/calls.md', 'Options of a call').map(([name = '', ...rest]) => [
        codeIn(name)[0] ?? '',
        rest.at(-1),
      ]);
      expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(docs.map(([name, { byDefault }]) => [name, byDefault])));
    });
  });

  /** The smallest number that an option takes, by its own error. */
  function smallestOf(read: (name: string, given: never) => unknown): number {
    try {
      read('', -1 as never);
      return 0;
    } catch (error) {
      return Number(/a number of at least (\d+)/.exec(String(error))?.[1] ?? 0);
    }
  }
});

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
