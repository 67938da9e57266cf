// Programs that are run to their end, checks that print their titles, and Chromium.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const repository = join(import.meta.dirname, '../..');

/** Runs a program to its end and returns its output. */
export function run(directory, command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0, `${command} ${args.join(' ')} in ${directory} ended with ${status}:\n${stdout}`);
  return stdout;
}

export function check(title, condition) {
  assert.ok(condition, title);
  console.log(`  ok  ${title}`);
}

export function launchChromium() {
  return chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
}
