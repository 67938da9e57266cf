#!/usr/bin/env bash
# plist 5.0.0: a number from 1e21 on is read back as its first digit.
# Expected: 6.02214076e+23, or an error. The README says: "Build XML and binary plists from JavaScript objects".
# Seen: `build()` writes an <integer> in exponential notation, and `parse()` reads its digits up to the point: 6.
# The binary format of the same package keeps the number.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund plist@5.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { build, buildBinary, parse } from 'plist';

const sent = [1e20, 1e21, 6.02214076e23, -2.5e25];
const asXml = sent.map((value) => parse(build({ value })).value);
const asBinary = sent.map((value) => parse(new Uint8Array(buildBinary({ value }))).value);
console.log('sent:', sent.join(' '));
console.log('in XML:', /<integer>.*<\/integer>/.exec(build({ value: sent[2] }))[0]);
console.log('read of XML:', asXml.join(' '));
console.log('read of the binary format:', asBinary.join(' '));
const isSeen = asXml.join() === [1e20, 1, 6, -2].join() && asBinary.join() === sent.join();
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
