// Watches a server of 200 connections, of which one has 10 000 open streams, and compares the page with one that watches few.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const repository = join(import.meta.dirname, '../../..');
const folder = join(repository, `dist/spec/crowd-${process.pid}`);
const page = join(repository, 'dist/inspector/inspector.html');
const MEASURED_MS = 4_000;
const FEW = { dialers: 2, streams: 50, ends: 500 };
const CROWD = { dialers: 200, streams: 10_000, ends: 500 };
/** The page may compute this many times as long for the crowd, which sends as many frames a second. */
const MOST_TIMES = 4;

/** @param opened opens an address in a page of its own */
export async function watchesACrowd(opened, check) {
  try {
    await build({
      entryPoints: [join(import.meta.dirname, 'crowd-server.ts')],
      outfile: join(folder, 'crowd-server.mjs'),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      ignoreAnnotations: true,
      logLevel: 'warning',
    });
    const few = await watched(FEW, opened, () => undefined);
    const crowd = await watched(CROWD, opened, check);
    const times = crowd.seconds / few.seconds;
    console.log(`  the page computes ${times.toFixed(1)} times as long for 10 000 open streams as for 50`);
    check('the page stays usable with 10 000 open streams', times < MOST_TIMES);
    console.log(`  few ${few.bytesOfPart.toFixed(0)}, crowd ${crowd.bytesOfPart.toFixed(0)} bytes for each frame and peer`);
    check('the server sends about as many bytes for each frame and peer', crowd.bytesOfPart < 2 * few.bytesOfPart);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function watched({ dialers, streams, ends }, opened, check) {
  const args = [join(folder, 'crowd-server.mjs'), dialers, streams, ends, page].map(String);
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answer = async () => (await once(server.stdout, 'data')).toString().trim();
  const passed = async () => {
    server.stdin.write('?');
    return JSON.parse(await answer());
  };
  try {
    const viewer = await opened(await answer());
    const result = await used(viewer, passed, check);
    await viewer.context().close();
    let left = await passed();
    while (left.viewers > 0) left = await passed();
    check('the server has answered each request but those on their way', left.answers > left.requests - 200);
    return result;
  } finally {
    server.kill();
  }
}

async function used(viewer, passed, check) {
  const names = viewer.locator('.names li b');
  await names.nth(3).waitFor();
  let seconds = await computes(viewer);
  check('the page says how many peers it does not show', (await viewer.locator('.status').textContent()) === '50 of 200 peers are watched');

  await viewer.getByRole('searchbox').fill('name:hi');
  await names.filter({ hasText: 'watch' }).first().waitFor({ state: 'detached' });
  check('the filter leaves the lanes that match', (await names.filter({ hasText: 'hi' }).count()) > 0);
  await viewer.getByRole('searchbox').fill('');
  await names.filter({ hasText: 'watch' }).first().waitFor();

  await viewer.locator('.diagram').evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  seconds += await computes(viewer);
  check('few of the names are in the page', (await names.count()) < 40);
  const { bytes, parts } = await passed();
  return { seconds, bytesOfPart: bytes / parts };
}

/** The CPU time of the page's scripts, in some seconds. */
async function computes(viewer) {
  const session = await viewer.context().newCDPSession(viewer);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration').value;
  const before = await spent();
  await viewer.waitForTimeout(MEASURED_MS);
  return (await spent()) - before;
}
