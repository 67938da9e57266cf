import { connect, registerCodec, registeredCodecs, settings } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import { createPair } from 'rxmux/testing';

registerCodec('msgpack', new MsgpackCodec());

async function answers(server: string): Promise<string> {
  const peer = connect(server);
  const overSocket = await peer.request<number>({ n: 21 });
  await peer.close();
  const { dialer } = createPair({ acceptor: { onStream: (name: string, stream) => stream.reply(`hello ${name}`) } });
  const inMemory = await dialer.request<string>('pair');
  return JSON.stringify({ codec: settings.codec, codecs: registeredCodecs(), overSocket, inMemory });
}

const server = new URLSearchParams(location.search).get('server') ?? '';
const shown = await answers(server).catch(String);
document.body.append(Object.assign(document.createElement('output'), { textContent: shown }));
