// Watches a server, and a proxy, by the page that the command serves.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '../../..');
const folder = join(repository, `dist/spec/inspector-${process.pid}`);
const command = join(folder, 'rxmux.js');

/** @param opened opens an address in a page of its own */
export async function watchesServers(opened, check) {
  const running = [];
  try {
    build();
    const server = await listens(running, 'serve', '--port', '0', '--codec', 'rich', '--inspect');
    const ofServer = await opened(server.page);
    call('--codec', 'rich', server.url, '["served"]');
    await ofServer.locator('.names li b', { hasText: 'served' }).first().waitFor();
    check('the page of `rxmux serve --inspect` shows the calls of the server', true);

    const tap = await listens(running, 'tap', '--port', '0', '--inspect', server.url);
    call('--codec', 'rich', tap.url, '["before","s3cret"]');
    const ofTap = await opened(tap.page);
    await ofTap.locator('.names li b', { hasText: 'before' }).click();
    await ofTap.locator('aside tbody tr').first().waitFor();
    check('the page of `rxmux tap --inspect` shows earlier calls', (await ofTap.locator('aside pre').count()) === 0);
    await ofTap.getByRole('button', { name: 'Show payloads' }).click();
    await ofTap.getByRole('button', { name: 'Hide payloads' }).waitFor();
    call('--codec', 'rich', tap.url, '["after","s3cret"]');
    await ofTap.locator('.names li b', { hasText: 'after' }).click();
    await ofTap.locator('aside pre', { hasText: 's3cret' }).first().waitFor();
    check('it shows the payloads of later calls after a click', true);
    await ofTap.getByRole('button', { name: 'Copy as command' }).click();
    const copied = await ofTap.locator('.copied').textContent();
    check('a copied command has the address of the tap', copied === `npx rxmux call --codec rich ${tap.url} '["after","s3cret"]'`);
    await ofServer.locator('.names li b', { hasText: 'served' }).click();
    await ofServer.getByRole('button', { name: 'Copy as command' }).click();
    const again = await ofServer.locator('.copied').textContent();
    check('a copied command has the address of the server, and its codec', again === `npx rxmux call --codec rich ${server.url} 'PAYLOAD'`);

    const other = await opened(tap.page.replace(/\w{8}$/, '00000000'));
    await other.locator('.status', { hasText: 'waiting for the server' }).waitFor();
    check('an address with another token waits without a frame', (await other.locator('.names li').count()) === 0);
    for (const page of [ofServer, ofTap, other]) await page.context().close();
  } finally {
    for (const child of running) child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the command below the package, whose page it finds as an installed one does. */
function build() {
  spawnSync(process.execPath, [join(repository, 'scripts/command.js'), folder, '--sources'], { stdio: 'inherit' });
}

async function listens(running, ...args) {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  const [chunk] = await once(child.stdout, 'data');
  const [url, page] = chunk.toString().trim().split('\n');
  child.stdout.resume();
  return { url, page };
}

function call(...args) {
  spawnSync(process.execPath, [command, 'call', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}
