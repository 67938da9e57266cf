import { testBuses, testLogs } from '../topics/contract.js';
import type { Topics } from '../topics/contract.js';
import { room } from '../../src/topics.js';
import { BrokerProcess } from './broker-process.js';
import { KINDS } from './kinds.js';
import type { Kind } from './kinds.js';

async function begin(kind: Kind): Promise<Topics> {
  const broker = await BrokerProcess.start(kind.product);
  await kind.prepare(broker.port);
  const connected = await kind.connect(broker.port);
  return {
    bus: connected.bus,
    log: (topic) => connected.log(topic),
    close: async () => {
      await connected.close();
      await broker.stop();
    },
  };
}

async function rooms(kind: Kind): Promise<Topics> {
  const topics = await begin(kind);
  return { ...topics, log: (topic) => room(topics.bus, topic) };
}

for (const kind of KINDS) {
  testLogs(kind.name, () => begin(kind));
  testLogs(`a room of ${kind.name}`, () => rooms(kind), false);
  testBuses(kind.name, () => begin(kind));
}
