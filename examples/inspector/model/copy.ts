import type { Lane } from './lane.js';
import type { Marble } from './marble.js';

/** A longer gap is written as its time, as `printMarbles` does. */
const LONGEST_DASHES = 10;

/** Characters that a terminal, an editor or a reader of pasted text may obey: controls, line separators and invisible format characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The server of a copied command, and the codec that it speaks. */
export interface Target {
  readonly url: string;
  /** Default `json`. */
  readonly codec?: string | undefined;
}

/**
 * The command that opens a stream with the same payload, for bash or zsh. It says `PAYLOAD` for a payload that is not known, or is not JSON.
 * Headers of the stream stay out: the command sends headers with the handshake alone.
 */
export function asCommand(lane: Lane, { url, codec = 'json' }: Target): string {
  const { f } = lane.marbles.find(({ kind }) => kind === 'open')?.line ?? { f: null };
  const named = codec === 'json' ? [] : ['--codec', argument(codec)];
  return ['npx rxmux', subcommand(lane), ...named, argument(url), ...payloadOf(f)].join(' ');
}

function subcommand(lane: Lane): string {
  const [open, ...later] = lane.marbles;
  const answers = later.filter(({ kind, ofDialer }) => kind === 'data' && ofDialer !== open?.ofDialer).length;
  if (answers > 1 || lane.end === 'cancelled' || lane.end === 'failed') return 'stream';
  return answers === 0 && open?.ends === true ? 'push' : 'call';
}

function payloadOf(frame: Marble['line']['f']): readonly string[] {
  const content = frame?.['payload'] ?? frame?.['fragment'];
  if (content === undefined) return [];
  if (frame?.['fragment'] !== undefined || !isJson(content)) return ["'PAYLOAD'"];
  const json = JSON.stringify(content);
  return json.startsWith('-') ? ['--', quoted(json)] : [quoted(json)];
}

/** Whether JSON holds a value. Other codecs also carry bytes, dates and big integers; the command takes them from no argument. */
function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? Number.isFinite(value) : JSON_TYPES.has(typeof value);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}

/** The types of `null`, texts and booleans. */
const JSON_TYPES: ReadonlySet<string> = new Set(['object', 'string', 'boolean']);

/** Quotes a text for a shell where the shell would change it. */
function argument(text: string): string {
  return /^[\w./:@%-]+$/.test(text) ? text : quoted(text);
}

/** Quotes a text for a shell. Escapes unprintable characters, because a terminal may run what follows one in pasted text. */
function quoted(text: string): string {
  if (text.search(UNPRINTABLE) < 0) return `'${text.replaceAll("'", `'\\''`)}'`;
  // No argument can hold a NUL, and bash would end the text there.
  const escaped = text.replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replace(/['!]/g, escapeOf);
  return `$'${escaped.replace(UNPRINTABLE, escapeOf)}'`;
}

/** The escape of a character between `$'` and `'`. */
function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** A test that plays the frames of the stream's opener, and expects the frames of the other side. A character is a ms. */
export function asTest(lane: Lane): string {
  const [first] = lane.marbles;
  const opensAsDialer = first?.ofDialer ?? true;
  const cells = cellsOf(lane.marbles, first?.t ?? 0);
  return [
    `it('${lane.title.replaceAll(/['\\]/g, ' ').replaceAll(UNPRINTABLE, ' ')} as it was recorded', () => {`,
    '  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));',
    '  scheduler.run((helpers) => {',
    `    const remote = '   ${draw(cells, opensAsDialer)}';`,
    `    const expected = ' ${draw(cells, !opensAsDialer)}';`,
    `    const options = { isDialer: ${!opensAsDialer}, onStream };`,
    `    const { outbound$ } = peerFromMarbles(helpers, remote, frameMarbles(${lane.stream ?? 1}), options);`,
    "    const letters$ = outbound$.pipe(map(({ type, end }) => (type === 'data' && end ? 'e' : type.charAt(0))));",
    '    helpers.expectObservable(letters$).toBe(expected);',
    '  });',
    '});',
  ].join('\n');
}

interface Cell {
  readonly at: number;
  readonly marbles: readonly Marble[];
}

function cellsOf(marbles: readonly Marble[], begin: number): readonly Cell[] {
  const cells = new Map<number, Marble[]>();
  for (const marble of marbles) {
    const at = Math.round(marble.t - begin);
    cells.set(at, [...(cells.get(at) ?? []), marble]);
  }
  return [...cells].map(([at, each]) => ({ at, marbles: each }));
}

/** Draws one direction. Both directions move on together, so that their columns stay aligned. */
function draw(cells: readonly Cell[], ofDialer: boolean): string {
  let text = '';
  let free = 0;
  for (const { at, marbles } of cells) {
    const width = Math.max(widthOf(marbles, true), widthOf(marbles, false));
    text += filler(at - free) + lettersOf(marbles, ofDialer).padEnd(width, '-');
    free = Math.max(at, free) + width;
  }
  return text;
}

function widthOf(marbles: readonly Marble[], ofDialer: boolean): number {
  return lettersOf(marbles, ofDialer).length;
}

function lettersOf(marbles: readonly Marble[], ofDialer: boolean): string {
  const letters = marbles.filter((marble) => marble.ofDialer === ofDialer).map(letterOf);
  return letters.length > 1 ? `(${letters.join('')})` : letters.join('');
}

function letterOf({ kind, ends }: Marble): string {
  if (kind === 'open') return 'o';
  if (kind === 'reset') return 'r';
  return ends ? 'e' : 'd';
}

function filler(gap: number): string {
  return gap > LONGEST_DASHES ? ` ${gap}ms ` : '-'.repeat(Math.max(0, gap));
}
