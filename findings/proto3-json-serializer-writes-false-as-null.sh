#!/usr/bin/env bash
# proto3-json-serializer 3.0.6, protobufjs 7.6.6, @bufbuild/protobuf 2.17.0: a received `BoolValue` of `false` is written as `null`.
# Expected: `false`, 0 and "", as by @bufbuild/protobuf. The README follows the proto3 JSON specification, where only an unset wrapper is `null`.
# Seen: `toProto3JSON()` writes `null` for each wrapper that holds its type's default, since protobuf sends no bytes for a default.
# `true` and 7 arrive. So does the `false` of a message that was made here and never sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund proto3-json-serializer@3.0.6 protobufjs@7.6.6 @bufbuild/protobuf@2.17.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { create, toBinary, toJson } from '@bufbuild/protobuf';
import { BoolValueSchema, Int32ValueSchema, StringValueSchema } from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';
import serializer from 'proto3-json-serializer';

const { root } = protobuf.parse(`
  syntax = "proto3";
  import "google/protobuf/wrappers.proto";
  message Bool { google.protobuf.BoolValue field = 1; }
  message Int32 { google.protobuf.Int32Value field = 1; }
  message String { google.protobuf.StringValue field = 1; }
`);
root.addJSON(protobuf.common.get('google/protobuf/wrappers.proto').nested);
root.resolveAll();
const schemas = { Bool: BoolValueSchema, Int32: Int32ValueSchema, String: StringValueSchema };
const write = (message) => JSON.stringify(serializer.toProto3JSON(message).field);
const seen = Object.entries({ Bool: [false, true], Int32: [0, 7], String: ['', 'bell'] }).map(([name, values]) => {
  const type = root.lookupType(name);
  return values.map((value) => {
    const wrapper = create(schemas[name], { value });
    const bytes = toBinary(schemas[name], wrapper);
    const received = write(type.decode(Uint8Array.of(0x0a, bytes.length, ...bytes)));
    const unsent = write(type.fromObject({ field: { value } }));
    const other = JSON.stringify(toJson(schemas[name], wrapper));
    console.log(name, 'sent:', JSON.stringify(value), 'written:', received, 'unsent:', unsent, 'by @bufbuild/protobuf:', other);
    return [received, unsent, other].map((json) => json === JSON.stringify(value));
  });
});
const isSeen =
  JSON.stringify(seen) ===
  JSON.stringify(
    Array(3).fill([
      [false, true, true],
      [true, true, true],
    ]),
  );
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
