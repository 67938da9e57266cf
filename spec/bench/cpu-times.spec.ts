import { describe, expect, it } from '@jest/globals';
import type { Profiler } from 'node:inspector';
import { summed } from '../../bench/harness/cpu-times.js';
import type { FunctionTime } from '../../bench/harness/cpu-times.js';
import { cpuParts } from '../../bench/report/cpu-parts.js';
import { parseJson } from '../../src/codec/json-text.js';
import { JsonCodec } from '../../src/index.js';

const node = (id: number, functionName: string, url: string, lineNumber = 0): Profiler.ProfileNode => ({
  id,
  callFrame: { functionName, url, lineNumber, columnNumber: 0, scriptId: '1' },
});

const profile: Profiler.Profile = {
  startTime: 0,
  endTime: 1_000,
  nodes: [
    node(1, '(idle)', ''),
    node(2, 'send', 'a.js', 4),
    node(3, 'send', 'a.js', 9),
    node(4, 'send', 'a.js', 4),
    node(5, 'never', 'a.js'),
  ],
  samples: [2, 1, 3, 4, 3, 2],
  timeDeltas: [10, 500, 20, 30, 40, 1],
};

describe('a CPU profile', () => {
  it('A CPU profile is summed by function over all callers, without idle time', () => {
    expect(summed(profile, ({ url }) => `/src/${url}`)).toEqual([
      { name: 'send', file: '/src/a.js', us: 60 },
      { name: 'send', file: '/src/a.js', us: 41 },
    ]);
  });

  it('A CPU profile without samples has no times', () => {
    expect(summed({ startTime: 0, endTime: 0, nodes: profile.nodes }, () => '')).toEqual([]);
  });

  it('A CPU profile is divided into parts, each function into one', () => {
    const took = (name: string, file: string, us: number): FunctionTime => ({ name, file, us });
    const parts = cpuParts([
      took('writeBuffer', '', 1),
      took('writev', '', 2),
      took('(garbage collector)', '', 4),
      took('parseJson', '/p/src/codec/json-text.ts', 8),
      took('encodePayload', '/p/src/codec/json.ts', 16),
      took('encodePayload', '/p/src/codec/msgpack.ts', 32),
      took('startLoop', '/p/node_modules/ws/lib/receiver.js', 64),
      took('now', '/p/node_modules/rxjs/dist/cjs/internal/scheduler/dateTimestampProvider.js', 128),
      took('settle', '/p/src/connection/closing.ts', 256),
      took('log', '/p/src/logger.ts', 512),
      took('lane', '/p/bench/dist/1/harness/worker.js', 1_024),
      took('emit', 'node:events', 2_048),
      took('latin1Write', '', 4_096),
    ]);
    expect(parts.filter(({ us }) => us > 0)).toEqual([
      { title: 'the system call that writes', us: 3 },
      { title: 'garbage collection', us: 4 },
      { title: '`JSON.parse` of payloads', us: 8 },
      { title: '`JSON.stringify` of payloads', us: 16 },
      { title: '`ws`: reading frames', us: 64 },
      { title: 'rxjs', us: 128 },
      { title: '`src/codec`', us: 32 },
      { title: '`src/connection`', us: 256 },
      { title: 'the rest of `src`', us: 512 },
      { title: 'the benchmark itself', us: 1_024 },
      { title: 'Node: buffers, streams, sockets, promises', us: 6_144 },
    ]);
  });

  it('The parts name functions of the sources that exist', () => {
    expect([JsonCodec.prototype.encodePayload.name, parseJson.name]).toEqual(['encodePayload', 'parseJson']);
  });
});
