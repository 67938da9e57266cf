import { format } from 'node:util';
import { afterAll, afterEach } from '@jest/globals';

const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const;
const lines: string[] = [];

for (const method of METHODS) {
  const write = console[method].bind(console);
  console[method] = (...args: readonly unknown[]) => {
    lines.push(`console.${method}: ${format(...args)}`);
    write(...args);
  };
}

/** Fails a test that has written to the console: a green run is a silent one. */
function expectSilence(): void {
  const written = lines.splice(0);
  if (written.length > 0)
    throw new Error(`expected nothing on the console (collectLogs() collects the library's lines), got:\n${written.join('\n')}`);
}

afterEach(expectSilence);
afterAll(expectSilence);
