import { spawn } from 'node:child_process';
import { bundled } from './bundled.js';

/** How a program ended. */
export interface Ending {
  /** `null` where a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Returns a function that runs a Node program to its end, in its own process. The program can use `logger` and the exports of
 * `rxmux/node`, and may await.
 */
export function nodePrograms(): (program: string) => Promise<Ending> {
  const bundle = bundled(`export * from './node.js'; export { logger } from './index.js';`);
  return (program) => {
    const code = `(async ({ accept, connect, handleUpgrade, logger, serve }) => { ${program} })(require(${JSON.stringify(bundle)}))`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status) => {
        resolve({ status, stdout, stderr });
      });
    });
  };
}
