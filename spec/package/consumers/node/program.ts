import { registerCodec, registeredCodecs, settings, VERSION } from 'rxmux';
import { answering, client, contract, request, stream, whenError } from 'rxmux/contract';
import { MsgpackCodec } from 'rxmux/msgpack';
import { connect, serve } from 'rxmux/node';
import { createPair } from 'rxmux/testing';

declare module 'rxmux' {
  interface PeerContext {
    readonly user?: string;
  }
}

interface Question {
  readonly n: number;
}

async function overSocket(): Promise<number> {
  const server = serve({ port: 0, host: '127.0.0.1', handler: (question: Question, stream) => stream.reply(question.n * 2) });
  const address = await server.listening;
  const peer = connect(`ws://127.0.0.1:${address.port}`);
  const answer = await peer.request<number>({ n: 21 });
  await peer.close();
  await server.close();
  return answer;
}

async function inMemory(): Promise<string> {
  const { dialer, acceptor } = createPair({
    acceptor: { context: { user: 'ada' }, onStream: (greeting: string, stream) => stream.reply(`${greeting} ${stream.peer.context.user}`) },
  });
  const answer = await dialer.request<string>('hello');
  await Promise.all([dialer.close(), acceptor.close()]);
  return answer;
}

const api = contract({ double: request<Question, number, { TOO_LARGE: number }>(), count: stream<void, number>() });

async function byContract(): Promise<number> {
  const server = serve({ port: 0, host: '127.0.0.1', ...answering(api, { double: ({ n }) => n * 2, count: () => [1, 2] }) });
  const address = await server.listening;
  const peer = connect(`ws://127.0.0.1:${address.port}`);
  const calls = client(peer, api);
  calls
    .double({ n: 21 })
    .pipe(whenError(api.double, 'TOO_LARGE', (limit) => [limit]))
    .subscribe();
  const answer = await calls.double.promise({ n: 21 });
  await peer.close();
  await server.close();
  return answer;
}

async function main(): Promise<void> {
  const byDefault = settings.codec;
  registerCodec('msgpack', new MsgpackCodec());
  settings.codec = 'msgpack';
  console.log(
    JSON.stringify({
      byDefault,
      codecs: registeredCodecs(),
      overSocket: await overSocket(),
      byContract: await byContract(),
      inMemory: await inMemory(),
      version: VERSION,
    }),
  );
}

void main();
