import { registerCodec, registeredCodecs, settings } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import { createPair } from 'rxmux/testing';

registerCodec('msgpack', new MsgpackCodec());

const { dialer, acceptor } = createPair();
acceptor.onStream((n, stream) => stream.reply(n * 2));
const same = require('rxmux').settings === settings;
dialer
  .request(21)
  .then((answer) => console.log(JSON.stringify({ codec: settings.codec, codecs: registeredCodecs(), answer, same })), console.log);
