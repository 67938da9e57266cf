import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answering } from '../../src/contract.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { answers, api } from '../command/api.js';
import { BuiltCommand } from '../command/command.js';
import { collectLogs } from '../support/peer/logs.js';

collectLogs();

let command: BuiltCommand;
let server: MuxServer;
beforeAll(async () => {
  command = new BuiltCommand();
  server = serve({ port: 0, ...answering(api, answers()) });
  await server.listening;
  await command.run(['call', server.url, 'add', '{"id":"x"}']);
});
afterAll(async () => {
  command.dispose();
  await server.close();
});

const REFUSED = 'this side answers the contract calls add, count, rows.watch, rows.store, rows.talk; a call is the payload ["add", value]';

it.each<[mistake: string, args: readonly string[], status: number, printed: string]>([
  [
    'a call of a contract is written as `{ op }`',
    ['call', 'URL', '{"op":"add","id":"x"}'],
    4,
    `rxmux: RefusedError: stream 1: refused: ${REFUSED}\n`,
  ],
  ['the name of a call is misspelt', ['call', 'URL', 'ad', '{"id":"x"}'], 3, "rxmux: RemoteError: no 'ad'; did you mean 'add'?\n"],
  ['a call fails with a declared error', ['call', 'URL', 'add', '{"id":"x"}'], 3, "rxmux: RemoteError: EXISTS { id: 'x' }\n"],
  ['the address begins with `http:`', ['call', 'HTTP', 'count'], 0, '1\n'],
])('The author of a mistake at the command sees what to do: %s', async (_, args, status, printed) => {
  const addresses: Readonly<Record<string, string>> = { URL: server.url, HTTP: server.url.replace('ws:', 'http:') };
  const ended = await command.run(args.map((arg) => addresses[arg] ?? arg));
  expect(ended.status).toBe(status);
  expect(ended.out + ended.err).toBe(printed);
});
