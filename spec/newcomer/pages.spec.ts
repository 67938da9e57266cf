import { beforeEach } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { answering, client, contract, request } from '../../src/contract.js';
import { connect } from '../../src/index.js';
import type { ConnectOptions, Peer } from '../../src/index.js';
import * as nodeInPage from '../../src/node-in-page.js';
import { otherPlatform } from '../support/platform/globals.js';
import { freePort } from '../support/socket/ports.js';
import { mistakes } from './mistake.js';
import type { Lab } from './mistake.js';

const api = contract({ add: request<{ n: number }, number>() });
const answers = answering(api, { add: ({ n }) => n + 1 });

const pretend = otherPlatform();
beforeEach(() => {
  pretend({ document: {}, WebSocket });
});

/** Dials as a page does. */
function dialed(lab: Lab, url: string, options: ConnectOptions = {}): Peer {
  const peer = connect(url, options);
  lab.after(() => peer.close());
  return peer;
}

mistakes([
  {
    mistake: 'a page imports `connect` of `rxmux/node`',
    program: () => nodeInPage.connect(),
    fails: /^rxmux\/node works on Node only: use connect of 'rxmux' in a page$/,
  },
  {
    mistake: 'a page with `reconnect` is opened before its server runs',
    program: async (lab) => {
      const port = await freePort();
      const peer = dialed(lab, `ws://127.0.0.1:${port}`, { reconnect: { minDelayMs: 1, maxDelayMs: 2 } });
      const answer = client(peer, api).add.promise({ n: 1 });
      // More dials than a program of Node makes.
      await firstValueFrom(peer.status$.pipe(filter((status) => status.state === 'connecting' && status.attempt > 20)));
      await lab.serve({ ...answers, port });
      return answer;
    },
    gets: 2,
    because: 'a page dials for as long as it lives',
    prints: [/a dial failed, and more follow/, /connected to ws:\/\/127\.0\.0\.1:\d+ after \d+ failed dials$/],
  },
  {
    mistake: 'a component calls `connect` at each render',
    program: async (lab) => {
      const url = await lab.serve(answers);
      for (let render = 0; render < 10; render++) dialed(lab, url);
    },
    gets: undefined,
    because: 'a line says what to do',
    prints: [/^rxmux: 5 sockets to ws:\/\/localhost:\d+: call connect\(\) once, outside of components$/],
  },
  {
    mistake: 'an effect calls `connect` and has no clean-up, in StrictMode',
    program: async (lab) => {
      const url = await lab.serve(answers);
      const mounts = [dialed(lab, url), dialed(lab, url)];
      return Promise.all(mounts.map((peer) => client(peer, api).add.promise({ n: 1 })));
    },
    gets: [2, 2],
    because: 'both sockets work, and four are no fault; StrictMode exists to show a missing clean-up',
  },
]);
