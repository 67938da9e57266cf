#!/usr/bin/env bash
# gitdiff-parser 0.3.1: an empty new file and a renamed file with a change have the type "modify".
# Expected: the README lists the types "add", "delete", "modify" and "rename". A new file with a line is an "add", and a renamed one without a change is a "rename".
# Seen: the type depends on the lines "---" and "+++" alone if there are any. An empty file has none, so its creation and its removal are a "modify".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund gitdiff-parser@0.3.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import loaded from 'gitdiff-parser';

const parser = loaded.default ?? loaded;
const head = (from, to = from) => `diff --git a/${from} b/${to}`;
const rename = (share) => [head('old.js', 'new.js'), `similarity index ${share}%`, 'rename from old.js', 'rename to new.js'];
const change = ['index 1111111..2222222 100644', '--- a/old.js', '+++ b/new.js', '@@ -1,2 +1,2 @@', ' one', '-two', '+three'];
const diffs = {
  'a new file with a line': [head('a'), 'new file mode 100644', 'index 0000000..1111111', '--- /dev/null', '+++ b/a', '@@ -0,0 +1 @@', '+one'],
  'an empty new file': [head('a'), 'new file mode 100644', 'index 0000000..e69de29'],
  'an empty removed file': [head('a'), 'deleted file mode 100644', 'index e69de29..0000000'],
  'a renamed file': rename(100),
  'a renamed file with a change': [...rename(60), ...change],
};
const types = Object.entries(diffs).map(([name, lines]) => {
  const [{ type }] = parser.parse([...lines, ''].join('\n'));
  console.log(`${name}: ${type}`);
  return type;
});
const isSeen = types.join() === 'add,modify,modify,rename,modify';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
