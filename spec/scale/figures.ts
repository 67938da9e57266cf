import { textOf } from '../docs/markdown.js';

/** The cost of one connection and one message at a server, as `npm run bench:scale` has measured it. */
export interface Figures {
  readonly connectionHeapBytes: number;
  readonly connectionRssBytes: number;
  readonly followHeapBytes: number;
  readonly dialUs: number;
  readonly followUs: number;
  readonly requestUs: number;
  readonly deliveryUs: number;
  readonly probeUs: number;
  readonly memberBytes: number;
  readonly memberReportBytes: number;
}

export interface Measured {
  readonly environment: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly rounds: number;
  readonly figures: Figures;
}

export function readMeasured(): Measured {
  return JSON.parse(textOf('docs/benchmarks/scale.json')) as Measured;
}
