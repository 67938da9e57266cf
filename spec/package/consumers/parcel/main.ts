import { registerCodec, registeredCodecs } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import { createPair } from 'rxmux/testing';

const codec = new MsgpackCodec();
registerCodec('msgpack', codec);

const { dialer, acceptor } = createPair({ codec });
acceptor.onStream((name, stream) => stream.reply(`hello ${String(name)}`));
const inMemory = await dialer.request<string>('parcel').catch(String);
const shown = JSON.stringify({ codecs: registeredCodecs(), inMemory });
document.body.append(Object.assign(document.createElement('output'), { textContent: shown }));
