#!/usr/bin/env bash
# rxjs-etc 10.6.2, rxjs 7.8.2: `zipPadded()` loses values of a longer source that come before the shorter one completes.
# Expected: "if some sources complete whilst others continue to emit values", the README says, the completed ones are padded.
# Seen: a source is padded for values from its completion on. Each earlier value of the other source stays without a partner and is lost.
# So five names beside one age make five rows, three rows or one, depending on when the ages complete.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs-etc@10.6.2 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import etc from 'rxjs-etc';
import { Subject } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();
const names = ['Ann', 'Bob', 'Cid', 'Dan', 'Eve'];

/** The rows of five names and one age, which complete after so many names. */
function rowsOf(count) {
  const ages = new Subject();
  const people = new Subject();
  const rows = [];
  etc.zipPadded([ages, people], '-').subscribe((row) => rows.push(row.join(' ')));
  ages.next(42);
  for (const [index, name] of names.entries()) {
    if (index === count) ages.complete();
    people.next(name);
  }
  ages.complete();
  people.complete();
  return rows.join(', ');
}

const first = rowsOf(0);
const third = rowsOf(3);
const last = rowsOf(5);
console.log('the ages complete before the names:', first);
console.log('after three names:', third);
console.log('after all names:', last);
const isSeen = first === '42 Ann, - Bob, - Cid, - Dan, - Eve' && third === '42 Ann, - Bob, - Cid' && last === '42 Ann';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
