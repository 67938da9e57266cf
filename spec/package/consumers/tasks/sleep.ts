// A laptop wakes up on a dead line: the server's process stands still, and goes on later.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { filter, firstValueFrom } from 'rxjs';
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { api } from './api.ts';

const server = spawn(process.execPath, ['server.ts', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => server.kill('SIGKILL'));
let printed = '';
while (!/port: \d+/.test(printed)) printed += String((await once(server.stdout, 'data'))[0]);
const port = /port: (\d+)/.exec(printed)?.[1] ?? '';

await using peer = connect(`ws://localhost:${port}`, { reconnect: true });
const { square } = client(peer, api);
assert.equal(await square.promise({ n: 3 }), 9);

server.kill('SIGSTOP');
const lost = firstValueFrom(peer.status$.pipe(filter(({ state }) => state !== 'open')));
peer.reconnectNow();
await lost;
server.kill('SIGCONT');
assert.equal(await square.promise({ n: 4 }, { retry: 'safe' }), 16);
server.kill('SIGKILL');
