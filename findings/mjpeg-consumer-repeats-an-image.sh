#!/usr/bin/env bash
# mjpeg-consumer 2.0.0: images that arrive one in a chunk are emitted twice, and of images that arrive together only the first is emitted.
# Expected: the README says that the stream "consumes http multipart mjpeg streams and emits jpegs", in whatever chunks they arrive.
# Seen: of three images, the first two are emitted twice with one chunk for each; in one chunk, one of three is emitted.
# An image with a thumbnail ends with that thumbnail; zeros take the place of the rest.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mjpeg-consumer@2.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import MjpegConsumer from 'mjpeg-consumer';
import { once } from 'node:events';

setTimeout(() => process.exit(1), 20_000).unref();
const [start, end] = [Buffer.from('ffd8', 'hex'), Buffer.from('ffd9', 'hex')];
const imageOf = (...content) => Buffer.concat([start, ...content, end]);
const pixels = (size, value) => Buffer.alloc(size, value);
const images = [imageOf(pixels(100, 1)), imageOf(pixels(200, 2)), imageOf(pixels(300, 3))];
const thumbnail = imageOf(pixels(20, 4));
const photo = imageOf(thumbnail, pixels(400, 5));
const partOf = (image) => Buffer.concat([Buffer.from(`--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${image.length}\r\n\r\n`), image, Buffer.from('\r\n')]);

/** What the consumer emits for these chunks. */
async function emittedFor(chunks) {
  const emitted = [];
  const consumer = new MjpegConsumer().on('data', (image) => emitted.push(image));
  for (const chunk of chunks) consumer.write(chunk);
  consumer.end();
  await once(consumer, 'end');
  return emitted;
}
const numbers = (emitted) => emitted.map((image) => images.findIndex((other) => other.equals(image)) + 1).join();
const apart = numbers(await emittedFor(images.map(partOf)));
const together = numbers(await emittedFor([Buffer.concat(images.map(partOf))]));
const [ofPhoto] = await emittedFor([partOf(photo)]);
const known = photo.indexOf(end) + 2;
const isCut = ofPhoto.subarray(0, known).equals(photo.subarray(0, known)) && ofPhoto.subarray(known).every((byte) => byte === 0);
console.log('one image in a chunk:', apart);
console.log('three images in a chunk:', together);
console.log(`of a photo's ${photo.length} bytes:`, isCut ? `${known}, then zeros` : 'all');
const isSeen = apart === '1,1,2,2,3' && together === '1' && isCut;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
