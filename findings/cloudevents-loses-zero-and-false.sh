#!/usr/bin/env bash
# cloudevents 10.0.0: an event in structured mode loses its data if that is 0, `false` or ''.
# Expected: both modes of `HTTP` carry the same event. The JSON text of the structured one holds `"data":0`.
# Seen: `HTTP.toEvent()` returns an event without data; 1 and `true` arrive. In binary mode the text "0" or "false" arrives, and '' as it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { CloudEvent, HTTP } from 'cloudevents';

/** The data that is read of a message whose body was sent as text. */
const read = ({ headers, body }) => HTTP.toEvent({ headers, body: typeof body === 'string' ? body : JSON.stringify(body) }).data;
let isSeen = true;
for (const data of [1, true, 'text', 0, false, '']) {
  const event = new CloudEvent({ type: 'reading', source: '/sensor', data });
  const structured = HTTP.structured(event);
  const isWritten = structured.body.includes(`"data":${JSON.stringify(data)}`);
  const [ofBinary, ofStructured] = [read(HTTP.binary(event)), read(structured)];
  console.log(`${JSON.stringify(data)}:`, { ofBinary, ofStructured });
  isSeen &&= isWritten && ofBinary === String(data) && ofStructured === (data || undefined);
}
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
