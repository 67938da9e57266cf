import { bulk } from './bulk.js';
import { connects } from './connects.js';
import { fanOut, notify } from './fan-out.js';
import { headOfLine } from './head-of-line.js';
import { idleStreams } from './idle.js';
import { closedLoop, sequential, withHeader } from './requests.js';
import { manyStreams, oneStream, otherAnswers } from './streams.js';
import type { Workload } from './workload.js';

/** The workloads that run over pairs of processes. */
export const workloads: readonly Workload[] = [
  sequential,
  closedLoop(64),
  closedLoop(1_024),
  withHeader(64),
  oneStream,
  manyStreams,
  ...otherAnswers,
  bulk,
  headOfLine,
  idleStreams,
  connects,
  fanOut('W10@1KB', 1_000),
  fanOut('W10@10KB', 10_000),
  notify('W10@1KB-notify', 1_000),
];
