import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as index from '../../src/index.js';
import { TOTAL_LIMITS } from '../../src/acceptor/totals.js';
import { DEFAULT_HELLO_LIMITS } from '../../src/peer/hello.js';
import type { Rate } from '../../src/util/time.js';
import { DEFAULT_LIMITS } from '../../src/wire/limits.js';
import { examplesOf } from './example.js';
import { codeIn, fences, PAGES, REPOSITORY, tableBelow, textOf } from './markdown.js';
import { spelledLimit } from './spelled.js';

/** Links within the repository. */
const linksOf = (page: string): { readonly page: string; readonly to: string }[] =>
  [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to })).filter(({ to }) => !to.startsWith('http'));

const pathOf = (page: string, to: string): string => {
  const [path = ''] = to.split('#');
  return path === '' ? page : normalize(join(dirname(page), path));
};

describe('links', () => {
  it.each(PAGES.flatMap(linksOf))('A link leads from $page to $to', ({ page, to }) => {
    const [, anchor] = to.split('#');
    const target = pathOf(page, to);
    expect(existsSync(join(REPOSITORY, target))).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  });
});

describe('paths', () => {
  const named = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:bench|docs|examples|marbles|spec|src)\/[\w./-]*)`/g)].map(([, path = '']) => ({ page, path })),
  );

  it.each(named)('The path that $page names exists: $path', ({ path }) => {
    expect(existsSync(join(REPOSITORY, path))).toBe(true);
  });
});

/** The headings of a page, as the usual renderers turn them into anchors. */
function anchorsOf(page: string): string[] {
  const headings = textOf(page).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** A command on a page, and the words behind it. */
interface Given {
  readonly page: string;
  readonly command: string;
  readonly words: readonly string[];
}

const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { readonly scripts: object };
const tests = ['spec', 'marbles'].flatMap((folder) =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
);
const QUICK = /\.(spec|marbles)\.ts$/;
const LONG = /\.long\.ts$/;
const LONG_RUN = 'npm run test:long -- --testPathPatterns';

function given(command: string): Given[] {
  return PAGES.flatMap((page) => {
    const lines = fences(page, 'sh').flatMap(({ text }) => text.split('\n'));
    const spans = textOf(page)
      .replace(/^```[^]*?^```$/gm, '')
      .split('\n')
      .flatMap(codeIn);
    return [...lines, ...spans]
      .flatMap((text) => text.split('&&'))
      .map((text) => text.replace(/#.*/, '').trim())
      .filter((text) => text.startsWith(`${command} `))
      .map((text) => ({ page, command: text, words: text.slice(command.length).trim().split(/\s+/) }));
  });
}

const isFound = (kind: RegExp, path: string): boolean => tests.some((test) => kind.test(test) && test.startsWith(path));

describe('commands', () => {
  it.each(given('npm run'))('A command of a page runs a script of package.json: $page, $command', ({ words }) => {
    expect(Object.keys(scripts)).toContain(words.find((word) => !word.startsWith('-')));
  });

  it.each(given('npx jest'))('A command of a page finds tests: $page, $command', ({ words }) => {
    expect(words.filter((path) => !isFound(QUICK, path))).toEqual([]);
  });

  it.each(given(LONG_RUN))('A command of a page finds long tests: $page, $command', ({ words }) => {
    expect(words.filter((path) => !isFound(LONG, path))).toEqual([]);
  });

  it('The page of guarantees has commands of each kind', () => {
    const proofs = ['npm run', 'npx jest', LONG_RUN].map((command) => given(command).filter(({ page }) => page === 'docs/RELIABILITY.md'));
    expect(proofs.filter((found) => found.length === 0)).toEqual([]);
  });
});

const codes = readdirSync(join(REPOSITORY, 'docs/errors')).map((file) => file.replace('.md', ''));

/** Pages of the guide that begin with what they list or draw. A reader who comes from another library begins with a table of both. */
const LISTS = /(pictures|reference|speed|inspector|from-[\w-]+)\.md$/;

describe('pages of the guide', () => {
  it.each(PAGES.filter((path) => path.startsWith('docs/guide/') && !LISTS.test(path)))('The page %s begins with a program', (path) => {
    const [beginning = ''] = textOf(path).split(/\n(?:## |- \[)/);
    expect(beginning).toMatch(/^# .+\n\n[A-Z][^]+\n```(ts|sh)\n/);
  });
});

describe('pages of errors', () => {
  it('Each code of the guide has a page of its own, and no other has one', () => {
    const listed = tableBelow('docs/guide/errors.md', 'Every error').map(([, code = '']) => codeIn(code)[0]);
    expect(codes.sort()).toEqual([...listed, 'CODEC'].sort());
  });

  it.each(codes)('The page of %s has its title, whether to retry, and a program', (code) => {
    const page = `docs/errors/${code}.md`;
    expect(textOf(page)).toMatch(new RegExp(`^# ${code}$`, 'm'));
    expect(tableBelow(page, code).map(([fact]) => fact)).toContain('`retriable`');
    expect(fences(page, 'ts')).toHaveLength(1);
  });
});

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: false };
const ERRORS: readonly index.AnyMuxError[] = [
  new index.RemoteError('', null),
  new index.RefusedError(''),
  new index.ResetError(null),
  new index.CancelledError(''),
  new index.DeadlineExceededError(1),
  new index.ConnectionLostError(LOST),
  new index.QueueOverflowError(''),
  new index.StreamIdsExhaustedError(''),
  new index.ConnectError(''),
  new index.CodecMismatch('', ''),
  new index.CodecNotRegistered('', []),
  new index.ProtocolError(''),
];

describe('tables of the guide', () => {
  it('README.md names every entry point and every command', () => {
    const { exports, bin } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as Record<'exports' | 'bin', object>;
    const doors = Object.keys(exports).filter((subpath) => !/\.(json|html)$/.test(subpath));
    expect(tableBelow('README.md', 'Entry points').map(([name]) => name)).toEqual([
      ...doors.map((subpath) => `\`${subpath.replace('.', 'rxmux')}\``),
      ...Object.keys(bin).map((command) => `\`npx ${command}\``),
    ]);
  });

  it.each(tableBelow('docs/guide/calls.md', 'Hooks').map(([hook = '', operator = '']) => ({ hook, operator })))(
    'The guide names hooks and operators that exist: $hook',
    ({ hook, operator }) => {
      expect(
        codeIn(hook)
          .map((code) => code.replace(/\(.*/, ''))
          .filter((name) => !(name in index.Peer.prototype)),
      ).toEqual([]);
      expect(codeIn(operator).filter((name) => !(name in index || name in index.Peer.prototype))).toEqual([]);
    },
  );

  it('The guide lists every error with its code, and whether it is retriable', () => {
    const rows = tableBelow('docs/guide/errors.md', 'Every error').map(([name = '', code = '', , retriable = '']) => [
      codeIn(name)[0],
      codeIn(code)[0],
      retriable.startsWith('yes'),
    ]);
    expect(rows).toEqual(ERRORS.map(({ name, code, retriable }) => [name, code, retriable]));
  });
});

describe('limits', () => {
  const defaults = spelledAll(DEFAULT_LIMITS);

  it('PROTOCOL.md lists every limit with its default', () => {
    expect(limitsOf('docs/PROTOCOL.md')).toEqual(defaults);
  });

  it('The guide has the same defaults of limits', () => {
    expect(defaults).toMatchObject(limitsOf('docs/guide/security.md'));
  });

  it('The guide lists every total limit with its default', () => {
    const totals = Object.fromEntries(Object.entries(TOTAL_LIMITS).map(([name, [, byDefault]]) => [name, String(byDefault)]));
    expect(limitsOf('docs/guide/security.md', 'All connections together')).toEqual(totals);
  });

  it.each([
    ['docs/PROTOCOL.md', 'Limits before the hello'],
    ['docs/guide/security.md', 'Before the hello'],
  ])('The page %s lists every limit before the hello with its default', (page, heading) => {
    expect(limitsOf(page, heading)).toEqual(spelledAll(DEFAULT_HELLO_LIMITS));
  });
});

function limitsOf(page: string, heading = 'Limits'): Record<string, string> {
  return Object.fromEntries(tableBelow(page, heading).map(([name = '', value = '']) => [codeIn(name)[0] ?? '', value]));
}

function spelledAll(limits: object): Record<string, string> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, spelledLimit(name, value as number | Rate)]));
}

describe('examples', () => {
  it('Each example of a framework reconnects: its page would stay offline after the first lost socket', () => {
    const page = textOf('docs/guide/frameworks.md');
    const dials = [...page.matchAll(/connect\('wss:[^']*', \{[^}]*\}\)/g)].map(([dial]) => dial);
    expect(dials).not.toEqual([]);
    expect(dials.filter((dial) => !dial.includes('reconnect: true'))).toEqual([]);
  });

  // The quick start is two processes, which quick-start.spec.ts starts.
  const alone = examplesOf(PAGES).filter(({ fence, prints }) => prints.length > 0 && !fence.text.includes('rxmux/node'));

  it.each(alone)('The example $title prints what its comments say', async (example) => {
    expect(await example.run()).toEqual(example.prints);
  });
});

/** A row of the survivors: its file, the line in the run, and the replaced code, in which a `|` is escaped. */
const SURVIVOR = /^\| `(?<file>src\/[^`]+)`:\d+ \| `` (?<code>.*?) `` \|/gm;

describe('docs/mutation.md', () => {
  it('The page of mutants lists no survivor whose code is gone', () => {
    const survivors = [...textOf('docs/mutation.md').matchAll(SURVIVOR)].map(({ groups }) => ({
      file: String(groups?.['file']),
      code: String(groups?.['code']).replaceAll('\\|', '|'),
    }));
    expect(survivors.length).toBeGreaterThan(0);
    expect(survivors.filter(({ file, code }) => !sourceOf(file).includes(code))).toEqual([]);
  });
});

/** Returns a source with one space for each run of white space, as the page quotes it. */
function sourceOf(file: string): string {
  return readFileSync(join(REPOSITORY, file), 'utf8').replace(/\s+/g, ' ');
}

const page = textOf('docs/ARCHITECTURE.md');
const below = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
const sources = below('src').filter((path) => path.endsWith('.ts'));
const files = ['src', 'spec', 'examples/cbor'].flatMap((folder) => below(folder).map((path) => `/${folder}/${path}`));

/** Each file that the page names. Some are named without their folders. */
const named = [...page.matchAll(/[\w/.-]*\w\.ts\b/g)].map(([path]) => path);
/** Each function that fills a slot, with its file. */
const fillers = [...page.matchAll(/`(\w+)\(\)` of `([\w/-]+\.ts)`/g)].map(([, name = '', file = '']) => ({ name, file }));
/** The rows of the first table behind a sentence. */
function tableAfter(sentence: string): string[][] {
  const [, rows = ''] = /\n\|[ -]+\|[ |-]+\n((?:\|.*\n)+)/.exec(page.slice(page.indexOf(sentence))) ?? [];
  return rows.split('\n').map((row) => row.split('|').slice(1, -1));
}

describe('the page of the architecture', () => {
  it.each([...new Set(named)])('The page names a file that exists: %s', (path) => {
    expect(files.filter((file) => file.endsWith(`/${path}`))).not.toEqual([]);
  });

  it.each(fillers)('The page names the file of $name', ({ name, file }) => {
    expect(textOf(`src/${file}`)).toContain(`export function ${name}(`);
  });

  it('The page has a row for each file of rx', () => {
    const rows = tableAfter('They lie in `rx/`').flatMap(([parts = '']) => codeIn(parts));
    expect(rows.sort()).toEqual(readdirSync(join(REPOSITORY, 'src/rx')).sort());
  });

  it('The page names every folder of the source', () => {
    const folders = [...new Set(sources.map((path) => posix.dirname(path)))].filter((folder) => /^(\w+|peer\/\w+)$/.test(folder));
    expect(folders.filter((folder) => !page.includes(`${posix.basename(folder)}/`))).toEqual([]);
  });

  it('The picture names every door', () => {
    const [, doors = ''] = /```text\n([\w\s]+)\n/.exec(page) ?? [];
    const { exports } = JSON.parse(textOf('package.json')) as { readonly exports: object };
    const paths = Object.keys(exports).filter((path) => !/\.(json|html)$/.test(path));
    expect(doors.trim().split(/\s+/).sort()).toEqual(paths.map((path) => path.replace(/^\.\/?/, '') || 'index').sort());
  });
});
