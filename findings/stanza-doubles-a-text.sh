#!/usr/bin/env bash
# stanza 12.22.1: a received message that is sent on says "hellohello".
# Expected: `export()` of what `import()` has read writes the same message, so a bot can send `{ ...message, to }`.
# Seen: `import()` lists the body in `alternateLanguageBodies` too, and `export()` writes both texts into one element.
# A subject and a presence's status with a translation are doubled alike.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund stanza@12.22.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { JXT } from 'stanza';
import protocol from 'stanza/protocol/index.js';

const registry = new JXT.Registry();
registry.define(protocol.default ?? protocol);

/** What is written of a stanza that was read. */
function passedOn(kind, content) {
  const stanza = registry.import(JXT.parse(`<${kind} xmlns="jabber:client">${content}</${kind}>`));
  return registry.export(kind, stanza).children.map(String).join('');
}
const thread = passedOn('message', '<thread>7</thread>');
const body = passedOn('message', '<body>hello</body>');
const status = passedOn('presence', '<status>away</status><status xml:lang="de">weg</status>');
console.log('a thread:', thread);
console.log('a body:', body);
console.log('a status:', status);
const isSeen =
  thread === '<thread>7</thread>' &&
  body === '<body>hellohello</body>' &&
  status === '<status>awayaway</status><status xml:lang="de">weg</status>';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
