import { memoryBus, memoryLog, room } from '../../src/topics.js';
import type { Log } from '../../src/topics.js';
import { testBuses, testLogs } from './contract.js';
import type { Topics } from './contract.js';

const inMemory = (): Topics => {
  const logs = new Map<string, Log<unknown>>();
  return {
    bus: memoryBus(),
    log: <T>(topic: string): Log<T> => {
      const log = logs.get(topic) ?? memoryLog<unknown>();
      logs.set(topic, log);
      return log as Log<T>;
    },
    close: () => undefined,
  };
};

const rooms = (): Topics => {
  const bus = memoryBus();
  return { bus, log: <T>(topic: string) => room<T>(bus, topic), close: () => undefined };
};

testLogs('this process', inMemory);
testLogs('a room of this process', rooms, false);
testBuses('this process', inMemory);
