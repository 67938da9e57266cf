// Prints what each entry costs a page, and which folders a basic client consists of: `npm run size`. Fails beyond a bound.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { DOORS } from './doors.js';

const root = join(import.meta.dirname, '..');
const RXJS = ['rxjs'];
const MSGPACK = ['@msgpack/msgpack'];

const CLIENT = `import { connect } from 'rxmux';
const peer = connect('ws://x', { reconnect: true });
peer.request(1).then(console.log);
peer.open$(2).subscribe(console.log);`;
const MSGPACK_CLIENT = `import { connect } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
connect('ws://x', { codec: new MsgpackCodec() }).open$(2).subscribe(console.log);`;
/** A client, and everything of the door of a framework or of a query cache. */
const withDoor = (door) => `${CLIENT} import * as door from 'rxmux/${door}'; console.log(door);`;
const RICH_CLIENT = `import { connect } from 'rxmux';
import { RichCodec } from 'rxmux/rich';
connect('ws://x', { codec: new RichCodec() }).open$(2).subscribe(console.log);`;
const EVERYTHING = `import * as rxmux from 'rxmux'; console.log(rxmux);`;

/** Programs of pages, each with a bound in bytes of gzip. `without` names packages of others. A bound is half a percent above the size of its day. */
const ENTRIES = [
  { entry: 'a client: request, open$, reconnect', source: CLIENT, without: RXJS, bound: 49_720 },
  { entry: 'the same, with rxjs', source: CLIENT, without: [], bound: 55_590 },
  { entry: 'the same, compiled for ES2020, without rxjs', source: CLIENT, without: RXJS, target: 'es2020', bound: 49_850 },
  {
    entry: 'a client with msgpack, without rxjs and @msgpack/msgpack',
    source: MSGPACK_CLIENT,
    without: [...RXJS, ...MSGPACK],
    bound: 56_830,
  },
  { entry: 'a client with rich, without rxjs', source: RICH_CLIENT, without: RXJS, bound: 52_420 },
  { entry: 'every name of rxmux, without rxjs', source: EVERYTHING, without: RXJS, bound: 53_720 },
  { entry: 'every name of rxmux, with rxjs', source: EVERYTHING, without: [], bound: 60_850 },
  { entry: 'the first client, and rxmux/react', source: withDoor('react'), without: [...RXJS, 'react'], bound: 53_580 },
  { entry: 'the first client, and rxmux/vue', source: withDoor('vue'), without: [...RXJS, 'vue'], bound: 52_900 },
  { entry: 'the first client, and rxmux/svelte', source: withDoor('svelte'), without: [...RXJS, 'svelte'], bound: 52_750 },
  { entry: 'the first client, and rxmux/solid', source: withDoor('solid'), without: [...RXJS, 'solid-js'], bound: 52_860 },
  { entry: 'the first client, and rxmux/tanstack', source: withDoor('tanstack'), without: RXJS, bound: 51_680 },
];

process.stdout.on('error', (error) => {
  // The reader of a pipe, such as `head`, has read enough. An exit here would hide an entry beyond its bound.
  if (error.code !== 'EPIPE') throw error;
});

const sizes = await Promise.all(
  ENTRIES.map(async ({ entry, source, without, target, bound }) => {
    const bundled = await bundle({ source, without, target });
    return { entry, min: bundled.outputFiles[0].contents.length, gzip: gzipped(bundled), bound };
  }),
);
print(
  ['entry', 'minified', 'gzip', 'bound'],
  sizes.map(({ entry, min, gzip, bound }) => [entry, min, gzip, bound]),
);

const { metafile } = await bundle({ source: CLIENT, without: [], from: 'src' });
print(
  ['folder of a client', 'minified'],
  [...bytesByFolder(metafile)].sort(([, one], [, other]) => other - one),
);

for (const { entry, gzip, bound } of sizes) {
  if (gzip <= bound) continue;
  console.error(`expected at most ${bound} bytes of gzip for ${entry}, got ${gzip}`);
  process.exitCode = 1;
}

function gzipped({ outputFiles: [{ contents }] }) {
  return gzipSync(contents, { level: 9 }).length;
}

/** Bundles a page's program for a browser, with the built package, or with its sources where folders count. */
function bundle({ source, without, target = 'es2022', from = 'dist/esm' }) {
  const suffix = from === 'src' ? '.ts' : '.js';
  return build({
    stdin: { contents: source, resolveDir: root },
    absWorkingDir: root,
    alias: Object.fromEntries(DOORS.map((door) => [door === 'index' ? 'rxmux' : `rxmux/${door}`, join(root, from, `${door}${suffix}`)])),
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target,
    external: [...without],
    // The manifest's `sideEffects` describes the built files, not the sources.
    ignoreAnnotations: from === 'src',
    logLevel: 'error',
  });
}

/** Bytes of the minified output by folder of the sources, two deep, and by package. */
function bytesByFolder({ outputs }) {
  const [{ inputs }] = Object.values(outputs);
  const folders = new Map();
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const folder = path.startsWith('node_modules/') ? path.split('/')[1] : path.split('/').slice(0, -1).slice(0, 3).join('/');
    folders.set(folder, (folders.get(folder) ?? 0) + bytesInOutput);
  }
  return folders;
}

function print(heads, rows) {
  const cells = [heads, ...rows].map((row) => row.map(String));
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  for (const row of cells)
    console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '));
  console.log();
}
