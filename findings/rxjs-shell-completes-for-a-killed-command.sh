#!/usr/bin/env bash
# rxjs-shell 3.1.3, rxjs 7.8.2: `spawn()` of a command that is killed by a signal completes, as for a command that succeeds.
# Expected: an error, as for an exit with a status other than 0, and as from `exec()` of the same library.
# Seen: a killed command has no exit status, and `spawn()` tests only for a status above 0. Half of an output passes for all of it.
# A status above 0 becomes the own process's `exitCode` too, also where the program has handled the error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs-shell@3.1.3 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { lastValueFrom, toArray } from 'rxjs';
import { exec, spawn } from 'rxjs-shell';

setTimeout(() => process.exit(1), 20_000).unref();

/** How a command ends. */
function endOf(command) {
  return lastValueFrom(command.pipe(toArray())).then(
    (chunks) => `completes with ${chunks.length} chunk`,
    ({ name }) => `fails: ${name}`,
  );
}

const killed = "process.stdout.write('half', () => process.kill(process.pid, 'SIGKILL')); setInterval(() => {}, 1000);";
const seen = {
  spawnKilled: await endOf(spawn(process.execPath, ['-e', killed])),
  execKilled: await endOf(exec(`"${process.execPath}" -e "${killed}"`)),
  exitCodeBefore: process.exitCode,
  spawnStatus: await endOf(spawn(process.execPath, ['-e', 'process.exit(3)'])),
  exitCodeAfter: process.exitCode,
};
console.log(seen);
const isSeen =
  seen.spawnKilled === 'completes with 1 chunk' &&
  [seen.execKilled, seen.spawnStatus].every((end) => end === 'fails: Error') &&
  seen.exitCodeBefore === undefined &&
  seen.exitCodeAfter === 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
