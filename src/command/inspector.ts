import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { answerInspector } from 'rxmux/inspect';
import type { Inspection } from 'rxmux/inspect';
import { serve } from 'rxmux/node';
import { UsageError, notUsable } from './exit.js';
import { listen } from './listen.js';

/** The options of a command that serves the inspector. */
export const INSPECTOR_OPTIONS = { inspect: { type: 'boolean', default: false }, page: { type: 'string' } } as const;

/** The part of the help that describes them. */
export const INSPECTOR_HELP = `  --inspect         serve the inspector too, and print the address of its page.
                    It has a token, and only this machine can open it
  --page FILE       serve this page of the inspector (default: its own)
`;

const LOOPBACK = '127.0.0.1';
const TOKEN_BYTES = 16;

/** Loads the page of the inspector; `null` where it is not served. */
export async function loadPage({
  inspect,
  page,
}: {
  readonly inspect: boolean;
  readonly page?: string | undefined;
}): Promise<Buffer | null> {
  if (!inspect && page !== undefined) throw new UsageError('expected --page with --inspect, got it alone');
  return inspect ? readFile(page ?? installedPage()).catch(notUsable('the page of the inspector')) : null;
}

/** Serves the inspector on this machine alone, and returns the address of its page. The token keeps out other users and other pages. */
export async function serveInspector(inspection: Inspection, page: Buffer): Promise<string> {
  const token = randomBytes(TOKEN_BYTES).toString('hex');
  const { server, address } = await listen(LOOPBACK, 0, (_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
  });
  serve({ server, path: `/${token}`, handler: answerInspector(inspection, { verify: () => true }) });
  return `http://${address}/#/${token}`;
}

/** The page in the package of this command. */
function installedPage(): string {
  return createRequire(realpathSync(process.argv[1] ?? '')).resolve('rxmux/inspector.html');
}
