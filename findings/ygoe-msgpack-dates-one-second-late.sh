#!/usr/bin/env bash
# @ygoe/msgpack 1.0.3: a date before 1970 with a fraction of a second comes back one second late.
# Expected: 1969-12-31T23:59:58.500Z. The timestamp of MessagePack is a floor of seconds plus nanoseconds from 0 on.
# Seen: the seconds are cut towards zero and the nanoseconds turned positive, so the instant is 23:59:59.500.
# Its own `deserialize()` reads the same wrong instant, and so does every other library.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ygoe/msgpack@1.0.3 @msgpack/msgpack@3.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode } from '@msgpack/msgpack';
import * as ygoe from '@ygoe/msgpack';

const { deserialize, serialize } = ygoe.default ?? ygoe;
const sent = new Date(-1500);
const bytes = serialize(sent);
const [own, other] = [deserialize(bytes), decode(bytes)];
console.log('sent:', sent.toISOString());
console.log('its own deserialize():', own.toISOString());
console.log('@msgpack/msgpack:', other.toISOString());
const isSeen = own.getTime() === -500 && other.getTime() === -500;
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
