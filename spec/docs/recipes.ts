import type { EventEmitter } from 'node:events';
import * as fs from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import * as rxjs from 'rxjs';
import type { BehaviorSubject, Observable, ObservableInput, Subject, Subscription } from 'rxjs';
import { buildSync } from 'esbuild';
import * as limiter from 'rate-limiter-flexible';
import * as contract from '../../src/contract.js';
import type { Around, Call } from '../../src/contract.js';
import * as rxmux from '../../src/index.js';
import type { ConnectOptions, ErrorSerializer, Peer, Remove, Stream, StreamHandler } from '../../src/index.js';
import * as node from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import type { PortLike } from '../../src/port.js';
import * as port from '../../src/port.js';
import * as session from '../../src/session.js';
import * as topics from '../../src/topics.js';
import * as uploads from '../../src/uploads.js';
import { fences } from './markdown.js';

interface Task {
  readonly id: number;
  readonly title: string;
}

interface Said {
  readonly by: string;
  readonly text: string;
}

interface Entry {
  readonly seq: number;
}

type NewId = (bytes: number) => string;

/** The exports of the blocks in docs/recipes.md. `type-check.long.ts` checks their types. */
export interface Recipes {
  liveSearch: (peer: Peer, term$: Observable<string>) => Observable<string[]>;
  serveSearch: (peer: Peer, find: (term: string) => Observable<string[]>) => Subscription;
  serveTicker: (peer: Peer, price$: Observable<unknown>) => Subscription;
  ticker: (peer: Peer) => Observable<unknown>;
  rename: (peer: Peer, task$: BehaviorSubject<Task>, title: string) => Observable<Task>;
  chat: (peer: Peer, by: string, text$: Observable<string>) => Observable<Said>;
  serveRoom: (peer: Peer, room$: Subject<Said>) => Subscription;
  pushedStore: (peer: Peer) => Observable<Readonly<Record<string, unknown>>>;
  push: (peers: Iterable<Peer>, change: { readonly topic: string; readonly value: unknown }) => void;
  serveStore: (peer: Peer, store$: Observable<Readonly<Record<string, unknown>>>) => Subscription;
  serveFeed: (peer$: Observable<Peer>, feed$: Observable<unknown>) => Subscription;
  askedStore: (peer: Peer) => Observable<Readonly<Record<string, unknown>>>;
  PublicError: new (message: string) => Error;
  onlyPublic: ErrorSerializer;
  bySession: (find: (session: string) => Promise<string | undefined>) => NonNullable<ServeOptions['verify']>;
  connectAs: (url: string, tokens: { current(): string; refresh(): Promise<string> }, options?: ConnectOptions) => Peer;
  greet: (verify: (token: string) => Promise<{ name: string }>) => StreamHandler;
  greetJwt: (verify: (token: string) => Promise<{ payload: { sub?: string; exp?: number } }>) => StreamHandler;
  sessionOf: NonNullable<ServeOptions['verify']>;
  greetSession: (find: (id: string) => Promise<{ user: string; endsAt: Date } | undefined>) => StreamHandler;
  connectInSession: (url: string, extend: () => Promise<unknown>, options?: ConnectOptions) => Peer;
  connectionNotice: (peer: Peer) => Observable<string | null>;
  childOf: (parent: unknown, newId: NewId) => string;
  trace: (peer: Peer, newId: NewId) => Remove;
  forward: (upstream: Peer, newId: NewId) => (payload: unknown, stream: Stream) => Promise<void>;
  upload: (peer: Peer, name: string, file: Blob) => Observable<number>;
  serveUploads: (peer: Peer, write: (name: string, slice: Uint8Array) => Promise<void>) => Subscription;
  sendFile: (peer: Peer, id: string, file: Blob) => Observable<number>;
  serveFiles: (peer: Peer, pathOf: (id: string) => string) => Subscription;
  follow: (peer: Peer) => Observable<Entry>;
  serveLog: (peer: Peer, log: readonly Entry[], entry$: Observable<Entry>) => Subscription;
  ask: (peer: Peer, id: string, prompt: string) => { readonly text$: Observable<string>; readonly stop: () => Promise<unknown> };
  serveAnswers: (peer$: Observable<Peer>, tokensOf: (prompt: string, signal: AbortSignal) => ObservableInput<string>) => Subscription;
  closeOnSignal: (server: MuxServer, process: EventEmitter) => Promise<void>;
  book: (peer: Peer, seat: string) => Promise<string>;
  metricsOf: (server: MuxServer) => string;
  joinPages: (http: Server, handler: StreamHandler, most: number) => MuxServer;
  serveReady: (handler: StreamHandler) => { http: Server; drain: () => Promise<void> };
  serveTab: (port: PortLike, server: Peer) => Peer;
  forwardTo: (server: Peer) => StreamHandler;
  limitEach: (limiter: limiter.RateLimiterAbstract, userOf: (call: Call) => string) => Around;
  leavePort: (http: Server, mux: MuxServer) => Promise<void>;
  /** `npm run test:package` runs it, with Vue. */
  useStream: (peer: Peer, open: () => Observable<unknown>) => Record<'value' | 'error', { readonly value: unknown }>;
}

const MODULES: Readonly<Record<string, object>> = {
  rxjs,
  rxmux,
  'node:http': http,
  'rxmux/node': node,
  'rxmux/port': port,
  'rxmux/session': session,
  'rxmux/contract': contract,
  'rxmux/topics': topics,
  'rxmux/uploads': uploads,
  'node:fs': fs,
  'node:fs/promises': fsPromises,
  'rate-limiter-flexible': limiter,
};

/** Runs every block of the page, and returns their exports. */
export function loadRecipes(): Partial<Recipes> {
  const recipes = {};
  for (const code of commonJsOf(fences('docs/recipes.md', 'ts').map(({ text }) => text))) {
    const module = { exports: {} };
    const run = runInThisContext(`(function (require, module) {\n${code}\n})`) as (
      require: (name: string) => unknown,
      to: typeof module,
    ) => void;
    run((name) => MODULES[name], module);
    Object.assign(recipes, module.exports);
  }
  return recipes;
}

/** Makes CommonJS of all blocks in one run of the bundler. The compiler takes longer to load. */
function commonJsOf(blocks: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rxmux-recipes-'));
  try {
    const entryPoints = blocks.map((text, nth) => {
      const path = join(folder, `${nth}.ts`);
      writeFileSync(path, text);
      return path;
    });
    const { outputFiles } = buildSync({ entryPoints, outdir: folder, write: false, format: 'cjs', target: 'es2022', logLevel: 'error' });
    return outputFiles.map(({ text }) => text);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
