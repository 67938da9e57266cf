import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { answerInspector, inspect } from 'rxmux/inspect';
import { serve } from 'rxmux/node';
import type { MuxServer } from 'rxmux/node';

/** The page that watches the demo. */
export interface DemoInspector {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const PAGE = createRequire(import.meta.url).resolve('rxmux/inspector.html');

/** Serves the page of the inspector for the peers of a server. */
export async function serveInspector(server: MuxServer): Promise<DemoInspector> {
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
