#!/usr/bin/env bash
# sdp-transform 3.0.0: `a=msid:stream` is written as `a=msid:stream undefined`, and `m=video 49170/2 …` as `m=undefined NaN undefined`.
# Expected: "the writer is built to be the inverse of the parser", says the README.
# RFC 8830 makes an msid's second word optional, and RFC 8866 has the port 49170/2 in an example.
# Seen: both lines are parsed without an error. What is written names the track "undefined", and has no port, protocol or format.
# Of two times of a session, the last one is written.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sdp-transform@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parse, write } from 'sdp-transform';

const sessionOf = (...lines) => ['v=0', 'o=- 2890844526 2890842807 IN IP4 192.0.2.1', 's=-', ...lines, ''].join('\r\n');
const rewritten = (...lines) => write(parse(sessionOf(...lines))).split('\r\n').slice(3, -1);
const pair = rewritten('t=0 0', 'm=audio 9 RTP/AVP 0', 'a=msid:stream track');
const single = rewritten('t=0 0', 'm=audio 9 RTP/AVP 0', 'a=msid:stream');
const ports = rewritten('t=0 0', 'm=video 49170/2 RTP/AVP 31');
const times = rewritten('t=3034423619 3042462419', 't=3046423619 3054462419');
console.log('a stream and a track:', pair);
console.log('a stream:', single);
console.log('two ports:', ports);
console.log('two times:', times);
const isSeen =
  pair[2] === 'a=msid:stream track' &&
  single[2] === 'a=msid:stream undefined' &&
  ports[1].trim() === 'm=undefined NaN undefined' &&
  times.join() === 't=3046423619 3054462419';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
