#!/usr/bin/env bash
# denque 2.1.0: `removeOne(-1)` returns the last item and removes the first one.
# Expected: it removes the item that it returns. Its documentation says "Remove and return the item at the specified index".
# It also says that a negative index counts from the back in `peekAt()`, and `remove(-1, 1)` removes the last item.
# Seen: the method finds its item by the index from the back, but then takes that negative number for a place near the front.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund denque@2.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import Denque from 'denque';

const names = ['Ann', 'Bob', 'Charlie', 'Dora'];

/** What a call returns, and what it leaves in a queue of four names. */
function after(call) {
  const queue = new Denque(names);
  const returned = [call(queue)].flat().join();
  return { returned, left: Array.from(queue.toArray(), String).join() };
}

const rows = {
  'peekAt(-1)': after((queue) => queue.peekAt(-1)),
  'remove(-1, 1)': after((queue) => queue.remove(-1, 1)),
  'removeOne(3)': after((queue) => queue.removeOne(3)),
  'removeOne(-1)': after((queue) => queue.removeOne(-1)),
  'removeOne(-2)': after((queue) => queue.removeOne(-2)),
};
console.table(rows);
const isSeen =
  rows['peekAt(-1)'].returned === 'Dora' &&
  rows['remove(-1, 1)'].left === 'Ann,Bob,Charlie' &&
  rows['removeOne(3)'].left === 'Ann,Bob,Charlie' &&
  rows['removeOne(-1)'].returned === 'Dora' &&
  rows['removeOne(-1)'].left === 'Bob,Charlie,undefined' &&
  rows['removeOne(-2)'].returned === 'Charlie' &&
  rows['removeOne(-2)'].left === 'Bob,undefined,Dora';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
