import { VERSION } from 'rxmux';
import { FRAMEWORKS } from './frameworks.js';
import type { Template } from './frameworks.js';

/** The files of a new project: a typed contract, a server, a page, a test and a Dockerfile. */
export function filesOf(name: string, template: Template): Readonly<Record<string, string>> {
  const { node, typecheck, dependencies, devDependencies, plugin, compilerOptions, tsconfig, files } = FRAMEWORKS[template];
  const [entry = ''] = Object.keys(files);
  return {
    'package.json': json({
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      engines: { node },
      scripts: {
        dev: 'vite',
        typecheck,
        test: 'tsx --test src/*.test.ts',
        build: `${typecheck} && vite build --outDir dist/page && vite build --ssr src/server.ts --outDir dist/server`,
        prestart: `node -e "fs.existsSync('dist/server') || child_process.execSync('npm run build', { stdio: 'inherit' })"`,
        start: 'node dist/server/server.js',
      },
      // Its previews have other origins than the server, which only they reach.
      stackblitz: { env: { ORIGINS: '.' } },
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
      ...tsconfig,
      include: ['src', 'vite.config.ts'],
    }),
    'vite.config.ts': `import { Server } from 'node:http';
${plugin[0]}import { rxmuxInspector } from 'rxmux/vite';
import { defineConfig } from 'vite';
import { answer } from './src/mux.ts';

const { HOST, PORT } = process.env;

export default defineConfig({
  plugins: [${plugin[1] && `\n    ${plugin[1]},`}
    // The inspector is there while you develop, and in no build.
    rxmuxInspector(),
    {
      name: 'answers',
      // Vite starts again when a file changes that this one imports, and reloads the page.
      configureServer({ httpServer }) {
        if (httpServer instanceof Server) answer(httpServer);
      },
    },
  ],
  // Previews of CodeSandbox have such hosts.
  server: { host: HOST || undefined, port: Number(PORT || 5173), allowedHosts: ['.csb.app'] },
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
    <main></main>
    <script type="module" src="/src/${entry}"></script>
  </body>
</html>
`,
    'src/page.css': `:root {
  color-scheme: light dark;
  background: light-dark(#f6f8fa, #0d1117);
  color: light-dark(#1f2328, #e6edf3);
  font: 1.125rem/1.5 system-ui, sans-serif;
}

main {
  max-width: 40rem;
  margin: 3rem auto;
  padding: 0 1rem;
  overflow-wrap: anywhere;
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
    'src/mux.ts': `import type { Server } from 'node:http';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answers } from './answers.ts';
import { api } from './api.ts';

const { ORIGINS } = process.env;

/** Answers calls on the port of a server. Its own pages may connect, or the pages that the expression ORIGINS matches. */
export const answer = (server: Server) =>
  serve({
    server,
    path: '/mux',
    origins: ORIGINS ? [new RegExp(ORIGINS)] : undefined,
    ...answering(api, answers),
  });
`,
    'src/server.ts': `// Serves the built page and its calls. While you develop, Vite does both.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { answer } from './mux.ts';

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const page = join(import.meta.dirname, '../page');
const { HOST, PORT } = process.env;

const http = createServer(({ url = '/' }, response) => {
  // A URL has no '..' left, so no path leads out of the folder. As a base, the address would take '//' for a host.
  // A stranger may ask for '*:99999', which would be no URL.
  const { pathname } = new URL('http://localhost' + (url.startsWith('/') ? url : '/'));
  const file = createReadStream(join(page, pathname === '/' ? 'index.html' : pathname));
  response.setHeader('content-type', TYPES[extname(pathname)] ?? 'text/html; charset=utf-8');
  file.on('error', () => response.writeHead(404).end('not found')).pipe(response);
  // Without this, a reader that leaves early would keep the file open.
  response.on('close', () => file.destroy());
});
const server = answer(http);
http.listen(Number(PORT || 8080), HOST || '127.0.0.1', () => {
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
    'src/calls.ts': `import { connect } from 'rxmux';
import { client } from 'rxmux/contract';
import { api } from './api.ts';

/** The socket of the whole page. It is on the origin that serves the page. */
export const peer = connect('/mux', { reconnect: true });
export const calls = client(peer, api);
`,
    ...Object.fromEntries(Object.entries(files).map(([file, text]) => [`src/${file}`, text])),
    '.codesandbox/tasks.json': json({
      setupTasks: ['npm install'],
      tasks: { dev: { name: 'dev', command: 'npm run dev', runAtStart: true } },
    }),
    'README.md': `# ${name}

\`\`\`sh
npm install
npm run dev
\`\`\`

\`src/api.ts\` is the contract, \`src/answers.ts\` answers it, and \`src/${entry}\` is the page. The button "rxmux" in the page shows its streams.

\`npm test\` tests the answers in memory. \`npm start\` serves the built page and its calls, and builds them first if they are missing. \`PORT\` and \`HOST\` say where to listen. \`ORIGINS\` is an expression of the pages that may connect, for proxies that replace the Host header.
`,
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
