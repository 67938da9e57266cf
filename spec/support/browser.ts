import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const ROOT = join(__dirname, '../..');
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const SOLITARY = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', ...SOLITARY];
/** Playwright sets this flag, although no user has it. Without it a left page is shown again as it was. */
const UNSET = ['--disable-back-forward-cache'];

/** Starts Chromium. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, ignoreDefaultArgs: UNSET });
}

/** Bundles a script for a page, with the sources of the library. */
export function scriptOf(entry: string): string {
  const [built] = buildSync({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    alias: { rxmux: './src/index.ts', 'rxmux/port': './src/port.ts' },
    // package.json names the side effects of the built files, not of the sources.
    ignoreAnnotations: true,
  }).outputFiles;
  return built?.text ?? '';
}
