import { spawnSync } from 'node:child_process';
import { bundled } from '../process/bundled.js';

/** How a peer fared in a process with a heap of 64 MB. */
export interface Survival {
  /** Codes of the frames that it sent, by their type: `goaway 1`, `reset 1`. */
  readonly told: readonly string[];
  readonly closes: readonly number[];
  /** Whether the peer answered a request sent after the attack. */
  readonly answers: boolean;
  /** How much memory the messages have added to the process. */
  readonly megabytes: number;
}

// An acceptor whose handler reads everything and holds its streams open. It answers only the last request.
const CHILD = `
  const { Peer, JsonCodec, MsgpackCodec, logger } = require(process.argv[1]);
  const input = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  logger.level = 'silent';
  const codec = input.binary ? new MsgpackCodec() : new JsonCodec();
  const listeners = { open: [], message: [], error: [], close: [] };
  const told = [], closes = [];
  let answers = false;
  const socket = {
    readyState: 1, protocol: 'mux.v1.' + codec.name, bufferedAmount: 0, binaryType: '',
    send(data) {
      const { type, code, payload } = codec.decode(data);
      if (payload === 'good') answers = true;
      else told.push(type + ' ' + code);
    },
    close(code) { closes.push(code); },
    addEventListener(type, listener) { listeners[type].push(listener); },
    removeEventListener() {},
  };
  const peer = new Peer(socket, { isDialer: false, codec, keepalive: false });
  void peer.serve((payload, stream) => {
    if (payload === 'good') return stream.reply(payload);
    stream.subscribe({ error() {} });
    return stream.closed;
  });
  const receive = (data) => listeners.message.forEach((listener) => listener({ data }));
  const messages = input.messages.map((hex) => {
    const bytes = Buffer.from(hex, 'base64');
    return input.binary ? Uint8Array.from(bytes).buffer : bytes.toString();
  });
  const before = process.memoryUsage().rss;
  for (const message of messages) receive(message);
  const megabytes = (process.memoryUsage().rss - before) / 2 ** 20;
  receive(codec.encode({ type: 'open', stream: 99, end: true, payload: 'good' }));
  process.stdout.write(JSON.stringify({ told, closes, answers, megabytes }));
  process.exit(0);
`;

/** Writes the program that the child processes of one file run. Returns a function that attacks a child with messages. */
export function attackedProcess(): (binary: boolean, messages: readonly Buffer[]) => Survival {
  const bundle = bundled(`export { Peer, JsonCodec, logger } from './index.js'; export { MsgpackCodec } from './codec/msgpack.js';`);
  return (binary, messages) => {
    const input = JSON.stringify({ binary, messages: messages.map((message) => message.toString('base64')) });
    const { stdout, status, stderr } = spawnSync(process.execPath, ['--max-old-space-size=64', '-e', CHILD, bundle], { input });
    if (status !== 0) throw new Error(`expected the process to live, got status ${String(status)}: ${String(stderr).slice(0, 500)}`);
    return JSON.parse(String(stdout)) as Survival;
  };
}
