import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import type { Profiler } from 'node:inspector';
import { pathToFileURL } from 'node:url';
import type { Guide } from './fuzzer.js';

/** Guides by the blocks of code that V8 reports as run, in those sources of one bundle whose path matches. */
export class Coverage implements Guide {
  readonly #session = new Session();
  readonly #url: string;
  readonly #guiding: readonly { readonly from: number; readonly to: number; readonly at: number }[];
  #length = 0;

  constructor(bundle: string, guiding: RegExp) {
    const text = readFileSync(bundle, 'utf8');
    // The bundler writes the path of each source above the source.
    const headings = [...text.matchAll(/^\/\/ (\S+\.\w+)$/gm)];
    this.#guiding = headings.flatMap(({ index: from, 1: path = '' }, nth) => {
      if (!guiding.test(path)) return [];
      const [to, at] = [headings[nth + 1]?.index ?? text.length, this.#length];
      this.#length += to - from;
      return [{ from, to, at }];
    });
    if (this.#guiding.length === 0) throw new Error(`expected a bundle with sources that match ${String(guiding)}, got none`);
    this.#url = pathToFileURL(bundle).href;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  reach(run: () => void): Uint8Array {
    this.#taken();
    run();
    const reached = new Uint8Array(this.#length);
    for (const { ranges } of this.#taken()) {
      // The outermost range comes first. The ranges within it mark code that did not run.
      for (const { startOffset, endOffset, count } of ranges) {
        const section = this.#guiding.find(({ from, to }) => startOffset >= from && endOffset <= to);
        if (section === undefined) continue;
        const shift = section.at - section.from;
        reached.fill(Number(count > 0), startOffset + shift, endOffset + shift);
      }
    }
    return reached;
  }

  close(): void {
    this.#session.disconnect();
  }

  /** The code that ran since the last call. */
  #taken(): readonly Profiler.FunctionCoverage[] {
    let functions: readonly Profiler.FunctionCoverage[] = [];
    // Within one thread the answer arrives before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_error, answer?: Profiler.TakePreciseCoverageReturnType) => {
      functions = answer?.result.find(({ url }) => url === this.#url)?.functions ?? [];
    });
    return functions;
  }
}
