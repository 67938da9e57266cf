#!/usr/bin/env bash
# sip 0.0.6: a parameter of 0 is written without its value, so a phone that signs off with `expires: 0` sends `;expires`.
# Expected: `stringify()` writes a parameter's value, as it does with 60 and with '0'. A header `expires: 0` is written as `Expires: 0`.
# Seen: the contact has an `expires` without a value, and `parse()` reads it as `null`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sip@0.0.6 >/dev/null
cat >program.mjs <<'PROGRAM'
import sip from 'sip';

/** A contact's line in a REGISTER, and the value that is read of it. */
function contactWith(expires) {
  const party = { uri: 'sip:ann@example.org', params: {} };
  const contact = [{ uri: 'sip:ann@192.0.2.1', params: { expires } }];
  const headers = { to: party, from: party, 'call-id': '1', cseq: { method: 'REGISTER', seq: 1 }, contact, expires };
  const text = sip.stringify({ method: 'REGISTER', uri: 'sip:example.org', version: '2.0', headers });
  const read = sip.parse(text).headers;
  return { line: /^Contact: +(.*)\r$/m.exec(text)[1], parameter: read.contact[0].params.expires, header: read.expires };
}
const [minute, zero, text] = [60, 0, '0'].map(contactWith);
console.log('60:', minute);
console.log('0:', zero);
console.log("'0':", text);
const isSeen = minute.parameter === '60' && text.parameter === '0' && zero.header === '0' && zero.parameter === null && zero.line.endsWith(';expires');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
