#!/usr/bin/env bash
# proto3-json-serializer 3.0.6, protobufjs 7.6.6, @bufbuild/protobuf 2.17.0: a duration of -1.5 s is written as "-1s", and one of -0.5 s as "0s".
# Expected: "-1.500s" and "-0.500s", as by @bufbuild/protobuf. The README follows the proto3 JSON specification, for `Duration` too.
# Seen: `toProto3JSON()` writes the fraction of positive durations alone, and nothing throws.
# `fromProto3JSON()` refuses each negative duration, also the ones that `toProto3JSON()` has written.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund proto3-json-serializer@3.0.6 protobufjs@7.6.6 @bufbuild/protobuf@2.17.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { create, toJson } from '@bufbuild/protobuf';
import { DurationSchema } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import serializer from 'proto3-json-serializer';

const { root } = protobuf.parse(
  'syntax = "proto3"; import "google/protobuf/duration.proto"; message Shift { google.protobuf.Duration by = 1; }',
);
root.addJSON(protobuf.common.get('google/protobuf/duration.proto').nested);
root.resolveAll();
const Shift = root.lookupType('Shift');
const durations = [
  { seconds: 1, nanos: 500_000_000 },
  { seconds: -1, nanos: -500_000_000 },
  { seconds: 0, nanos: -500_000_000 },
  { seconds: -2, nanos: 0 },
];
const seen = durations.map(({ seconds, nanos }) => {
  const json = serializer.toProto3JSON(Shift.fromObject({ by: { seconds, nanos } })).by;
  const other = toJson(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds), nanos }));
  let read = 'read';
  try {
    serializer.fromProto3JSON(Shift, { by: json });
  } catch {
    read = 'refused';
  }
  console.log(seconds + nanos / 1e9, 's is written as', json, 'and', read, 'again; by @bufbuild/protobuf:', other);
  return [json, read, other].join(' ');
});
const isSeen = seen.join(', ') === '1.500s read 1.500s, -1s refused -1.500s, 0s read -0.500s, -2s refused -2s';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
