import { createServer } from 'node:http';
import { answering, client, contract, request } from '../../src/contract.js';
import { connect as connectOfPages } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { portOf } from '../support/socket/handshake.js';
import { closing, listening } from '../support/socket/listening.js';
import { mistakes, untyped } from './mistake.js';
import type { Lab } from './mistake.js';

const api = contract({ add: request<{ n: number }, number>() });
const answers = answering(api, { add: ({ n }) => n + 1 });
const NOWHERE = 'ws://127.0.0.1:1';

/** Dials a web server that answers each request with a status. */
async function dialed(lab: Lab, status: number): Promise<unknown> {
  const server = await listening(createServer((_, response) => response.writeHead(status).end('a page')));
  lab.after(() => closing(server));
  return lab.dial(`ws://127.0.0.1:${portOf(server)}`).opened;
}

mistakes([
  {
    mistake: 'the port is wrong',
    program: (lab) => lab.dial(NOWHERE).opened,
    fails: /^the connection to ws:\/\/127\.0\.0\.1:1 could not be opened \(1006 connect ECONNREFUSED 127\.0\.0\.1:1\)$/,
  },
  {
    mistake: 'the host is wrong',
    program: (lab) => lab.dial('ws://no.such.host.invalid').opened,
    fails: /could not be opened \(1006 getaddrinfo \w+ no\.such\.host\.invalid\)$/,
  },
  {
    mistake: 'a `wss:` address leads to a server without TLS',
    program: async (lab) => lab.dial((await lab.serve(answers)).replace('ws:', 'wss:')).opened,
    fails: /could not be opened \(1006 .*(wrong version number|packet length too long).*\); does this port speak TLS\?$/,
  },
  {
    mistake: 'a web server without WebSocket answers',
    program: (lab) => dialed(lab, 200),
    fails: /got HTTP 200; is this the path\? a web server has answered, which knows of no WebSocket there$/,
  },
  {
    mistake: 'a web server has no such page',
    program: (lab) => dialed(lab, 404),
    fails: /got HTTP 404; is this the path\? the log of an rxmux server names the paths that would answer$/,
  },
  {
    mistake: 'the path is wrong',
    program: async (lab) => lab.dial(`${new URL('/', await lab.serve({ ...answers, path: '/mux' }))}`).opened,
    fails: /got HTTP 404; is this the path\?/,
    prints: [/refused an upgrade: 404 \/: nothing answers at \/; this server answers at \/mux$/],
  },
  {
    mistake: 'a proxy does not pass the headers of an upgrade',
    program: (lab) => dialed(lab, 426),
    fails: /got HTTP 426; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection$/,
  },
  {
    mistake: 'the page comes from another origin',
    program: async (lab) => lab.dial(await lab.serve(answers), { headers: { origin: 'http://foreign.example' } }).opened,
    fails: /got HTTP 403$/,
    prints: [
      /refused an upgrade: 403 \/: this origin is not allowed: "http:\/\/foreign\.example"; name it in the option 'origins' to let it in$/,
    ],
  },
  {
    mistake: 'the address has no scheme',
    program: (lab) => lab.dial('localhost:8080'),
    fails: /^url: expected a ws: or wss: address, got 'localhost:8080'$/,
  },
  {
    mistake: 'the address begins with `http:`',
    program: async (lab) => client(lab.dial((await lab.serve(answers)).replace('ws:', 'http:')), api).add.promise({ n: 1 }),
    gets: 2,
    because: 'connect dials ws: for http:',
  },
  {
    mistake: 'the two ends have different codecs',
    program: async (lab) => lab.dial(await lab.serve(answers), { codec: new MsgpackCodec() }).opened,
    fails: /^expected the subprotocol 'mux\.v1\.msgpack', got none: both ends must use the same codec$/,
    prints: [/refused an upgrade: 400 \/: expected the subprotocol 'mux\.v1\.json' in first place, got 'mux\.v1\.msgpack'$/],
  },
  {
    mistake: 'a codec is named by a text',
    program: (lab) => lab.dial(NOWHERE, { codec: untyped('msgpack') }),
    fails: /^codec: expected a codec, such as new JsonCodec\(\), got 'msgpack'$/,
  },
  {
    mistake: 'an option is misspelt',
    program: (lab) => lab.dial(NOWHERE, untyped({ reconect: true })),
    fails: /^options: no 'reconect'; did you mean 'reconnect'\?$/,
  },
  {
    mistake: 'an option of a server is misspelt',
    program: (lab) => lab.serve(untyped({ origin: ['http://localhost:5173'] })),
    fails: /^options: no 'origin'; did you mean 'origins'\?$/,
  },
  {
    mistake: 'an option is of another library',
    program: (lab) => lab.serve(untyped({ cors: { origin: '*' } })),
    fails: /^options: expected one of path, .*port, .*, origins, .*, got 'cors'$/,
  },
  {
    mistake: '`connect` of `rxmux` runs on a Node without WebSocket',
    program: async (lab) => {
      const peer = connectOfPages(NOWHERE);
      lab.after(() => peer.close());
      await peer.opened;
    },
    fails: /^expected a platform with a WebSocket, got none: use connect of 'rxmux\/node', or pass the option socket$/,
  },
  {
    mistake: 'two servers have no handler',
    program: async (lab) => {
      const urls = [await lab.serve(), await lab.serve()];
      const asked = await Promise.allSettled(urls.map((url) => lab.dial(url).request('x')));
      throw (asked[1] as PromiseRejectedResult).reason;
    },
    fails: /: refused: no handler took this stream: this side has no onStream handler, and no operator such as respond\(\)$/,
    // One line for each server.
    prints: Array<RegExp>(2).fill(/refused a stream with REFUSED: no handler took this stream/),
  },
  {
    mistake: 'the port is taken',
    program: async (lab) => lab.serve({ ...answers, port: Number(new URL(await lab.serve(answers)).port) }),
    fails:
      /^expected port \d+ to be free, but another program listens there \(EADDRINUSE\): stop it, or pass another port; 0 takes a free one$/,
    prints: [/^rxmux: the server failed: expected port \d+ to be free/],
  },
  {
    mistake: 'a program of Node dials with `reconnect` before its server runs',
    program: (lab) => lab.dial(NOWHERE, { reconnect: { minDelayMs: 1, maxDelayMs: 2 } }).opened,
    fails: /could not be opened \(1006 connect ECONNREFUSED 127\.0\.0\.1:1\)$/,
    prints: [/a dial failed, and more follow: the connection to ws:\/\/127\.0\.0\.1:1 could not be opened/],
  },
]);
