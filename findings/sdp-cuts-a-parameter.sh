#!/usr/bin/env bash
# sdp 3.2.2 beside sdp-transform 3.0.0: `parseFmtp()` cuts a value at its first equals sign, so H.264 parameter sets are lost.
# Expected: `sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA==` holds two sets in base64, as RFC 6184 says, and sdp-transform reads both.
# Seen: `Z0IAH5WoFAFuQA` is read: the second set is lost, and `writeFmtp()` writes what is left.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sdp@3.2.2 sdp-transform@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import SDPUtils from 'sdp';
import { parseParams } from 'sdp-transform';

const sets = 'Z0IAH5WoFAFuQA==,aM48gA==';
const config = `packetization-mode=1;sprop-parameter-sets=${sets}`;
const parameters = SDPUtils.parseFmtp(`a=fmtp:96 ${config}`);
const written = SDPUtils.writeFmtp({ payloadType: 96, parameters }).trim();
const ofOther = parseParams(config)['sprop-parameter-sets'];
console.log('sdp:', parameters['sprop-parameter-sets']);
console.log('sdp writes:', written);
console.log('sdp-transform:', ofOther);
const isSeen =
  parameters['sprop-parameter-sets'] === 'Z0IAH5WoFAFuQA' &&
  written === 'a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IAH5WoFAFuQA' &&
  ofOther === sets;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
