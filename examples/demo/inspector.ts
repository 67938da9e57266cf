import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { answerInspector, inspect } from 'rxmux/inspect';
import { serve } from 'rxmux/node';
import type { MuxServer } from 'rxmux/node';

/** The page that watches the demo. */
export interface DemoInspector {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const ROOT = new URL('../../../', import.meta.url);
const PAGE = new URL('examples/inspector/dist/inspector.html', ROOT);

/** Serves the page of the inspector for the peers of a server. Returns `null`, with a line that says why, where it cannot be built. */
export async function serveInspector(server: MuxServer): Promise<DemoInspector | null> {
  if (!existsSync(PAGE) && !built()) {
    console.log('  the page of the inspector could not be built, so the demo goes on without it');
    return null;
  }
  const inspection = inspect(server);
  const http = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(readFileSync(PAGE));
  });
  const viewers = serve({ server: http, path: '/inspect', handler: answerInspector(inspection, { verify: () => true }) });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const close = async (): Promise<void> => {
    inspection.close();
    await viewers.close({ drainMs: 0 });
    http.closeAllConnections();
    http.close();
  };
  return { url: `http://127.0.0.1:${port}/#/inspect`, close };
}

function built(): boolean {
  console.log('  building the page of the inspector …');
  return spawnSync('npm', ['run', '--silent', 'build:inspector'], { cwd: fileURLToPath(ROOT), stdio: 'inherit', shell: true }).status === 0;
}
