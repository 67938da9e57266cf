#!/usr/bin/env bash
# @hapi/nes 14.0.1, @hapi/hapi 21.4.10: a request whose payload is `false` or `0` reaches its route with `null`.
# Expected: the handler of a route gets the same payload over the WebSocket as over HTTP. API.md names no type for it.
# Seen: `true` and `1` arrive, `false` and `0` do not, and the client gets 200. So a switch can be turned on but not off.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @hapi/nes@14.0.1 @hapi/hapi@21.4.10 >/dev/null
cat >program.mjs <<'PROGRAM'
import Hapi from '@hapi/hapi';
import Nes from '@hapi/nes';

setTimeout(() => process.exit(1), 20_000).unref();
const server = Hapi.server({ host: '127.0.0.1', port: 0 });
await server.register(Nes);
server.route({ method: 'POST', path: '/switch', handler: ({ payload }) => `${payload}` });
await server.start();
const client = new Nes.Client(`ws://127.0.0.1:${server.info.port}`);
await client.connect();

const [overHttp, overNes] = [[], []];
for (const value of [true, 1, false, 0]) {
  const response = await fetch(`${server.info.uri}/switch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  });
  overHttp.push(await response.text());
  const { payload } = await client.request({ method: 'POST', path: '/switch', payload: value });
  overNes.push(payload);
}
console.log('sent: true, 1, false, 0');
console.log('received over HTTP:', overHttp.join(', '));
console.log('received over the WebSocket:', overNes.join(', '));
const isSeen = overHttp.join() === 'true,1,false,0' && overNes.join() === 'true,1,null,null';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
