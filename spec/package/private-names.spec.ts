import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Report } from '../../src/topics/presence-report.js';
import { CloseCode, ResetCode } from '../../src/wire/codes.js';

const REWRITE = `
  import { sourcesWithProperties } from './scripts/private-names.js';
  const rewritten = (folder) => {
    try {
      return [...sourcesWithProperties(folder).values()];
    } catch ({ message }) {
      return [message];
    }
  };
  console.log(JSON.stringify(process.argv.slice(1).map(rewritten)));`;

/** Rewrites programs, each a list of sources, and returns the texts of each, or the error of the build. One process does it all. */
function rewritten(programs: readonly (readonly string[])[]): unknown[] {
  const root = mkdtempSync(join(tmpdir(), 'rxmux-'));
  try {
    const folders = programs.map((sources, number) => {
      const folder = join(root, String(number));
      mkdirSync(folder);
      sources.forEach((source, index) => {
        writeFileSync(join(folder, `${index}.ts`), source);
      });
      return folder;
    });
    const cwd = join(__dirname, '../..');
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', REWRITE, ...folders], { cwd, encoding: 'utf8' });
    return JSON.parse(stdout) as unknown[];
  } finally {
    rmSync(root, { recursive: true });
  }
}

const CASES: readonly (readonly [title: string, sources: readonly string[], texts: readonly string[]])[] = [
  [
    'Classes that extend no other of ours share their names',
    ['class A extends Error { #x = 1; #y = this.#x; }', 'class B { #z = 1; }'],
    ['class A extends Error { $a = 1; $b = this.$a; }', 'class B { $a = 1; }'],
  ],
  [
    'A class has other names than its super classes, in whatever file they are',
    ['class C extends B { #x = 1; }', 'class A { #x = 1; }', 'class B extends A { #x = 1; }'],
    ['class C extends B { $$$a = 1; }', 'class A { $a = 1; }', 'class B extends A { $$a = 1; }'],
  ],
  [
    'A name of a brand check becomes a symbol',
    ['class A { #x = 1; static is(a: object) { return #x in a && a.#x; } }'],
    ["const $a = Symbol('x'); class A { [$a] = 1; static is(a: object) { return $a in a && a[$a]; } }"],
  ],
  [
    'A private parameter of a constructor becomes such a property',
    [
      'class A { constructor(private readonly host: H) { f({ host }, host); } g() { const { host, x: { y } } = this; return host + this.host; } }',
    ],
    [
      'class A { constructor(private readonly $a: H) { f({ host: $a }, $a); } g() { const { $a: host, x: { y } } = this; return host + this.$a; } }',
    ],
  ],
  [
    'A private parameter keeps its name if the class reads that name of another object',
    ['class A { constructor(private readonly host: H) {} f(a: A) { return a.host; } }', 'class B { constructor(public host: H) {} }'],
    ['class A { constructor(private readonly host: H) {} f(a: A) { return a.host; } }', 'class B { constructor(public host: H) {} }'],
  ],
  [
    'The build refuses a super class whose private names it does not know',
    ['class A extends Stranger { #x = 1; }'],
    ['expected a class to extend one of ours, or Error, Observable, Subject, Subscription, TypeError; got Stranger'],
  ],
];

describe('private names of the build', () => {
  const results = rewritten(CASES.map(([, sources]) => sources));

  it.each(CASES.map(([title, , texts], index) => ({ title, texts, result: results[index] })))('$title', ({ texts, result }) => {
    expect(result).toEqual(texts);
  });
});

describe('codeNumbers', () => {
  const REWRITE = `
  import { codeNumbers } from './scripts/code-numbers.js';
  console.log(JSON.stringify(process.argv.slice(1).map(codeNumbers('src'))));`;

  function rewritten(sources: readonly string[]): unknown {
    const cwd = join(__dirname, '../..');
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', REWRITE, ...sources], { cwd, encoding: 'utf8' });
    return JSON.parse(stdout);
  }

  it('The build writes the numbers of codes, and keeps types, other names and other objects', () => {
    const kept = ['type T = typeof ResetCode.REFUSED;', 'code = ResetCode.UNKNOWN;', 'wire.ResetCode.CANCEL', 'MyResetCode.CANCEL'];
    expect(rewritten(['reset(ResetCode.CANCEL, CloseCode.POLICY)', 'code ?? ResetCode.NO_ERROR', ...kept])).toEqual([
      'reset(8, 1008)',
      'code ?? 0',
      ...kept,
    ]);
  });

  it('The build writes the number of each code from its own table: two tables have a PROTOCOL_ERROR', () => {
    const codes = Object.entries({ ResetCode, CloseCode }).flatMap(([table, rows]) =>
      Object.entries(rows).map(([name, number]) => [`${table}.${name}`, String(number)] as const),
    );
    expect(rewritten(codes.map(([source]) => source))).toEqual(codes.map(([, number]) => number));
  });
});

describe('short names of members', () => {
  const SHORTEN = `
    import { shortMembers } from './scripts/member-names.js';
    const { mangleProps, mangleCache } = shortMembers(process.argv[1]);
    const names = ['rareThing', 'ownThing$', ...Object.keys(mangleCache)];
    console.log(JSON.stringify(Object.fromEntries(names.filter((name) => mangleProps.test(name)).map((name) => [name, mangleCache[name]]))));`;

  /** Returns the short names for the sources in a folder. */
  function shortenedIn(folder: string): unknown {
    const cwd = join(__dirname, '../..');
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', SHORTEN, folder], { cwd, encoding: 'utf8' });
    return JSON.parse(stdout);
  }

  /** Returns the short names for sources. */
  function shortened(source: string, path = 'source.ts'): unknown {
    const folder = mkdtempSync(join(tmpdir(), 'rxmux-'));
    try {
      writeFileSync(join(folder, path), source);
      return shortenedIn(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('Members of classes get short names, the most used one first', () => {
    const source = `class A { rareThing$ = 1; commonThing() { return this.commonThing(); } constructor(readonly givenThing: B, plain: B) {} }`;
    expect(shortened(source)).toEqual({ commonThing: '_a', givenThing: '_b', rareThing$: '_c' });
  });

  it('A name stays that a public declaration, the platform, another package or a string has, too', () => {
    // The declarations of Node have `roughly` in a comment alone.
    const members = ['open$', 'addEventListener', '_receiver', 'maxPayload', 'readByName', 'roughly', 'ownThing'];
    const source = `class A { ${members.map((name) => `${name} = 1;`).join(' ')} } const key = 'readByName'; interface B { onlyInterface: 1 }`;
    expect(shortened(source)).toEqual({ ownThing: '_a', roughly: '_b' });
  });

  it('A name stays that a door reads of an object of its package', () => {
    const source = `class A { isClosed = false; ownThing = nc.isClosed(); }`;
    expect([shortened(source, 'nats.ts'), shortened(source, 'ipc.ts')]).toEqual([{ ownThing: '_a' }, { isClosed: '_a', ownThing: '_b' }]);
  });

  it('A name stays that the servers of two builds send each other', () => {
    const inReports: (keyof Report)[] = ['from', 'version', 'joined', 'left', 'all', 'part', 'ask', 'bye'];
    expect(Object.keys(shortenedIn('src') as object).filter((name) => (inReports as string[]).includes(name))).toEqual([]);
  });
});
