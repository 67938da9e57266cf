import { makeAutoObservable, observable } from 'mobx';
import { Assembler, JsonCodec } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';
import { connect, serve } from 'rxmux/node';
import { createPair } from 'rxmux/testing';
import { reactive, ref } from 'vue';

const double = (n, stream) => stream.reply(n * 2);

async function used(wrap) {
  const { dialer, acceptor } = createPair();
  acceptor.onStream((n, stream) => double(n, wrap(stream)));
  const peer = wrap(dialer);
  const streamed = [];
  for await (const value of wrap(peer.open(21))) streamed.push(value);
  const codec = wrap(new MsgpackCodec());
  const server = wrap(serve({ port: 0, host: '127.0.0.1', handler: double }));
  const client = wrap(connect(`ws://127.0.0.1:${(await server.listening).port}`));
  const served = await client.request(21);
  await client.close();
  await server.close();
  return {
    isSame: peer === dialer,
    answer: await peer.request(21),
    streamed,
    served,
    decoded: codec.decodePayload(codec.encodePayload([1])),
    assembled: wrap(new Assembler()).feed({ type: 'data', stream: 1, fragment: '1' }, new JsonCodec()),
  };
}

class Store {
  constructor(held) {
    this.held = held;
    makeAutoObservable(this);
  }
}

const WRAPPERS = {
  'a Vue ref': (held) => ref(held).value,
  'a Vue reactive object': (held) => reactive({ held }).held,
  'a MobX observable': (held) => observable({ held }).held,
  'a MobX store': (held) => new Store(held).held,
};

for (const [wrapped, wrap] of Object.entries(WRAPPERS)) console.log(JSON.stringify({ wrapped, ...(await used(wrap)) }));
