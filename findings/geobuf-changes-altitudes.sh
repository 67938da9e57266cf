#!/usr/bin/env bash
# geobuf 4.0.0, pbf 4.0.2: one point without an altitude changes the altitudes of all points behind it.
# Expected: the same track. The README: "Can accommodate any GeoJSON data", nearly lossless except for decimals beyond the sixth. RFC 7946 makes the altitude optional for each position.
# Seen: that point and all behind it in the line get the altitude before it, without an error. A geometry without altitudes gets 0 if another one has them.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund geobuf@4.0.0 pbf@4.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode, encode } from 'geobuf';
import Pbf from 'pbf';

const again = (value) => decode(new Pbf(encode(value, new Pbf())));
const tracks = [
  [[7, 46, 500], [8, 46, 510], [9, 46, 520], [9, 47, 530]],
  [[7, 46, 500], [8, 46], [9, 46, 520], [9, 47, 530]],
  [[7, 46], [8, 46], [9, 46], [9, 47]],
];
const line = (coordinates) => ({ type: 'LineString', coordinates });
const seen = tracks.map((track) => again(line(track)).coordinates);
for (const [i, track] of tracks.entries()) console.log(JSON.stringify(track), 'is read as', JSON.stringify(seen[i]));
const together = again({ type: 'GeometryCollection', geometries: [line(tracks[0]), line(tracks[2])] }).geometries[1].coordinates;
console.log('the last one beside the first one is read as', JSON.stringify(together));
const altitudes = (track) => track.map((point) => point[2]).join(' ');
const isSeen =
  JSON.stringify([seen[0], seen[2]]) === JSON.stringify([tracks[0], tracks[2]]) &&
  altitudes(seen[1]) === '500 500 500 500' &&
  altitudes(together) === '0 0 0 0';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
