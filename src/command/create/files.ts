import { VERSION } from 'rxmux';

/** The frameworks that a page can have. */
export const PAGES = ['vanilla', 'react'] as const;

export type PageKind = (typeof PAGES)[number];

interface Framework {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** The import and the call of its plugin in vite.config.ts; empty for none. */
  readonly plugin: readonly [load: string, use: string];
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** The program of the page, and the files beside it. The first one is the entry. */
  readonly files: Readonly<Record<string, string>>;
}

const CALLS = `import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { api } from './api.ts';

/** The socket of the whole page. It is on the origin that serves the page. */
export const peer = connect('/mux', { reconnect: true });
export const calls = client(peer, api);
`;

const FRAMEWORKS: Readonly<Record<PageKind, Framework>> = {
  vanilla: {
    dependencies: {},
    devDependencies: {},
    plugin: ['', ''],
    compilerOptions: {},
    files: {
      'main.ts': `import { calls } from './calls.ts';
import './page.css';

const output = document.createElement('output');
document.querySelector('main')?.append(output);
const show = (text: string) => (output.textContent = text);

calls.countdown({ from: 10 }).subscribe({
  next: (n) => show(String(n)),
  error: (error: Error) => show(error.message),
  complete: () => show('lift-off'),
});
`,
    },
  },
  react: {
    dependencies: { react: '^19.3.1', 'react-dom': '^19.3.1' },
    devDependencies: { '@types/react': '^19.3.3', '@types/react-dom': '^19.3.0', '@vitejs/plugin-react': '^6.3.0' },
    plugin: ["import react from '@vitejs/plugin-react';\n", 'react(), '],
    compilerOptions: { jsx: 'react-jsx' },
    files: {
      'main.tsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { useStream } from 'rxmux/react';
import { calls } from './calls.ts';
import './page.css';

function Countdown() {
  const { value, error, status } = useStream(() => calls.countdown({ from: 10 }), []);
  if (error) return <output>{String(error)}</output>;
  return <output>{status === 'complete' ? 'lift-off' : value}</output>;
}

const main = document.querySelector('main');
if (main)
  createRoot(main).render(
    <StrictMode>
      <h1>rxmux</h1>
      <Countdown />
    </StrictMode>,
  );
`,
    },
  },
};

/** The files of a new project: a typed contract, a server, a page, a test and a Dockerfile. */
export function filesOf(name: string, kind: PageKind): Readonly<Record<string, string>> {
  const { dependencies, devDependencies, plugin, compilerOptions, files } = FRAMEWORKS[kind];
  const [entry = ''] = Object.keys(files);
  const heading = kind === 'vanilla' ? '<h1>rxmux</h1>' : '';
  return {
    'package.json': json({
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      engines: { node: '^20.19.0 || >=22.12.0' },
      scripts: {
        dev: 'vite',
        server: 'tsx watch src/server.ts',
        typecheck: 'tsc',
        test: 'tsx --test src/*.test.ts',
        build: 'tsc && vite build --outDir dist/page && vite build --ssr src/server.ts --outDir dist/server',
        start: 'node dist/server/server.js',
      },
      dependencies: { ...dependencies, rxjs: '^7.8.2', rxmux: `^${VERSION}` },
      devDependencies: { ...devDependencies, '@types/node': '^24.0.0', tsx: '^4.20.0', typescript: '~6.0.3', vite: '^8.3.8' },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable'],
        module: 'esnext',
        moduleResolution: 'bundler',
        types: ['node', 'vite/client'],
        ...compilerOptions,
        strict: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        noEmit: true,
      },
      include: ['src', 'vite.config.ts'],
    }),
    'vite.config.ts': `${plugin[0]}import { rxmuxInspector } from 'rxmux/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  // The inspector is there while you develop, and in no build.
  plugins: [${plugin[1]}rxmuxInspector()],
  server: { proxy: { '/mux': { target: 'ws://127.0.0.1:8080', ws: true } } },
});
`,
    'index.html': `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="data:," />
    <title>${name}</title>
  </head>
  <body>
    <main>${heading}</main>
    <script type="module" src="/src/${entry}"></script>
  </body>
</html>
`,
    'src/page.css': `:root {
  color-scheme: light dark;
  font: 18px/1.5 system-ui, sans-serif;
}

main {
  max-width: 40rem;
  margin: 3rem auto;
  padding: 0 1rem;
}

output {
  font-size: 4rem;
  font-variant-numeric: tabular-nums;
}
`,
    'src/api.ts': `import { contract, request, stream } from 'rxmux/contract';

/** What the page may call. Both ends import it, so the compiler checks both. */
export const api = contract({
  square: request<{ n: number }, number>(),
  countdown: stream<{ from: number }, number>(),
});
`,
    'src/answers.ts': `import { map, take, timer } from 'rxjs';
import type { Answers } from 'rxmux/contract';
import type { api } from './api.ts';

/** A caller that unsubscribes also ends the timer here. */
export const answers: Answers<typeof api> = {
  square: ({ n }) => n * n,
  countdown: ({ from }) =>
    timer(0, 500).pipe(
      take(from),
      map((tick) => from - tick),
    ),
};
`,
    'src/api.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastValueFrom, take, toArray } from 'rxjs';
import { createPair } from 'rxmux/testing';
import { answers } from './answers.ts';
import { api } from './api.ts';

test('both ends run in memory, without a port', async () => {
  const { calls, dialer } = createPair(api, answers);
  assert.equal(await calls.square.promise({ n: 12 }), 144);
  assert.deepEqual(await lastValueFrom(calls.countdown({ from: 3 }).pipe(take(2), toArray())), [3, 2]);
  await dialer.close();
});
`,
    'src/server.ts': `// Serves the built page and its calls. While you develop, Vite serves the page, and passes /mux on to this server.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answers } from './answers.ts';
import { api } from './api.ts';

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const page = join(import.meta.dirname, '../page');

const http = createServer(({ url = '/' }, response) => {
  // A URL has no '..' left, so no path leads out of the folder.
  const { pathname } = new URL(url, 'http://localhost');
  const file = createReadStream(join(page, pathname === '/' ? 'index.html' : pathname));
  response.setHeader('content-type', TYPES[extname(pathname)] ?? 'text/html; charset=utf-8');
  file.on('error', () => response.writeHead(404).end('not found')).pipe(response);
});
const server = serve({ server: http, path: '/mux', ...answering(api, answers) });
http.listen(Number(process.env['PORT'] ?? 8080), process.env['HOST'] ?? '127.0.0.1', () => {
  console.log(server.url.replace(/^ws(.*)\\/mux$/, 'http$1/'));
});
// Streams end before the process does; pages reconnect to the next server.
process.once('SIGTERM', () => void server.close({ drainMs: 10_000 }).then(() => http.close()));
`,
    Dockerfile: `FROM node:24-slim AS build
WORKDIR /app
COPY package*.json ./
RUN npm install
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 8080
CMD ["node", "dist/server/server.js"]
`,
    '.dockerignore': 'node_modules\ndist\n',
    '.gitignore': 'node_modules\ndist\n',
    ...Object.fromEntries(Object.entries({ 'calls.ts': CALLS, ...files }).map(([file, text]) => [`src/${file}`, text])),
    'README.md': `# ${name}

\`\`\`sh
npm install
npm run server   # the calls, on port 8080
npm run dev      # the page, in a second terminal
\`\`\`

\`src/api.ts\` is the contract, \`src/answers.ts\` answers it, and \`src/${entry}\` is the page. The button "rxmux" in the page shows its streams.

\`npm test\` tests the answers in memory. \`npm run build && npm start\` serves the built page and its calls on one port; \`PORT\` and \`HOST\` say where.
`,
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
