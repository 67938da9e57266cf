import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

/** How long a page and its server may take for a step on a busy machine. */
export const PATIENCE_MS = 30_000;

/** Reads the output of a program without its colours. The returned function waits for a line that begins with a text. */
export function linesOf(output) {
  const lines = [];
  const reader = createInterface({ input: output }).on('line', (line) => lines.push(stripVTControlCharacters(line)));
  return async (start) => {
    const end = setTimeout(() => reader.emit('error', new Error(`expected the line '${start}', got:\n${lines.join('\n')}`)), PATIENCE_MS);
    while (!lines.some((line) => line.startsWith(start))) await once(reader, 'line');
    clearTimeout(end);
    return lines.find((line) => line.startsWith(start));
  };
}

/** Starts the server of an example in another process. `printed` waits for a line of its output. */
export async function startServer(directory, program, port = 0) {
  const server = spawn(process.execPath, [program, String(port)], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = linesOf(server.stdout);
  const [, used] = /port: (\d+)/.exec(await printed('listening'));
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  /** Sends a signal. Returns the exit code. */
  const end = async (signal) => {
    const exit = once(server, 'exit');
    server.kill(signal);
    const [code] = await exit;
    return code;
  };
  return { port: Number(used), printed, kill, end };
}
