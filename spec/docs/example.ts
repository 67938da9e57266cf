import { setTimeout as pause } from 'node:timers/promises';
import { format } from 'node:util';
import { expect } from '@jest/globals';
import * as rxjs from 'rxjs';
import * as rxjsTesting from 'rxjs/testing';
import ts from 'typescript';
import * as zod from 'zod';
import * as contract from '../../src/contract.js';
import * as index from '../../src/index.js';
import * as inspect from '../../src/inspect.js';
import * as msgpack from '../../src/msgpack.js';
import * as rich from '../../src/rich.js';
import * as port from '../../src/port.js';
import * as react from '../../src/react.js';
import * as tanstack from '../../src/tanstack.js';
import * as testing from '../../src/testing.js';
import * as topics from '../../src/topics.js';
import * as uploads from '../../src/uploads.js';
import * as webSocketStream from '../../src/websocketstream.js';
import { fences, printsOf } from './markdown.js';
import type { Fence } from './markdown.js';
import { newReader } from './reader.js';
import type { Reader } from './reader.js';

/** Modules for the names that an example uses without an import. The first module with the name counts. */
const READER = './reader-at-hand.js';
const MODULES: Readonly<Record<string, object>> = {
  [READER]: { peer: 0, acceptor: 0, term$: 0, token: 0, append: 0, userOf: 0, Entry: 0 } satisfies Record<keyof Reader | 'Entry', 0>,
  'rxmux/testing': testing,
  'rxmux/msgpack': msgpack,
  'rxmux/rich': rich,
  'rxmux/port': port,
  rxmux: index,
  rxjs,
  'rxjs/testing': rxjsTesting,
  '@jest/globals': { expect },
};

/** Modules whose names an example imports itself: as words they are too common. */
const IMPORTED: Readonly<Record<string, object>> = {
  'rxmux/contract': contract,
  'rxmux/react': react,
  'rxmux/tanstack': tanstack,
  'rxmux/topics': topics,
  'rxmux/uploads': uploads,
  'rxmux/websocketstream': webSocketStream,
  'rxmux/inspect': inspect,
  zod,
};

const MOMENT_MS = 20;

/** `Function` for a text with `await` in it. */
const AsyncFunction = (async () => {
  await Promise.resolve();
}).constructor as new (...text: string[]) => (...given: unknown[]) => Promise<void>;

/** A TypeScript block of a page, as a program. `// → 1 → 2` says that it prints `1` and then `2`. */
export class Example {
  readonly title: string;
  /** The block, preceded on its first line by the imports that it leaves to its reader. */
  readonly program: string;
  readonly prints: readonly string[];

  constructor(readonly fence: Fence) {
    this.title = `${fence.page}:${fence.line}`;
    this.program = importsOf(fence.text) + fence.text;
    this.prints = printsOf(fence.text);
  }

  /** Runs the program until it has printed the promised number of lines, and for a moment more. Returns the printed lines. */
  async run(): Promise<string[]> {
    const reader = newReader();
    const printed: string[] = [];
    const { outputText } = ts.transpileModule(this.program, {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
    });
    const enough = new Promise<void>((resolve, reject) => {
      const log = (...values: unknown[]): void => {
        if (printed.push(format(...values)) >= this.prints.length) resolve();
      };
      const load = (name: string): unknown => (name === READER ? reader : (MODULES[name] ?? IMPORTED[name]));
      new AsyncFunction('require', 'exports', 'console', outputText)(load, {}, { log }).catch(reject);
    });
    await enough;
    // The reader ticks each ms, so a program that prints too many lines has done so by then.
    await pause(MOMENT_MS);
    await reader.peer.close();
    return printed;
  }
}

/** The examples of pages, in their order. */
export function examplesOf(pages: readonly string[]): Example[] {
  return pages.flatMap((page) => fences(page, 'ts')).map((fence) => new Example(fence));
}

/** Names that a program declares or imports. */
const DECLARED = /(?:import|const|let|function|class|interface) (?:\{([^}]*)\}|(\w+\$?))/g;
/** Possible names in scope: words that are no properties. */
const USED = /(?<![.'\w$])[A-Za-z][\w$]*/g;

function importsOf(text: string): string {
  const found = new Set([...text.matchAll(DECLARED)].flatMap(([, list, name]) => list?.split(/[\s,]+/) ?? [name]));
  const used = new Set(text.match(USED));
  const imports = Object.entries(MODULES).map(([module, names]) => {
    const wanted = Object.keys(names).filter((name) => used.has(name) && !found.has(name));
    for (const name of wanted) found.add(name);
    return wanted.length === 0 ? '' : `import { ${wanted.join(', ')} } from '${module}'; `;
  });
  return `${imports.join('')}export {};\n`;
}
