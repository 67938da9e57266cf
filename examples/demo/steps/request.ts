import assert from 'node:assert/strict';
import { milliseconds } from '../figures.js';
import type { Step } from '../step.js';

interface Sum {
  readonly numbers: readonly number[];
}

/** One request, one answer. */
export const request: Step = {
  title: 'request and reply',
  file: 'steps/request.ts',
  checked: 'the sum is 5050, both times',

  answers: {
    sum({ numbers }: Sum, stream) {
      return stream.reply(numbers.reduce((sum, number) => sum + number, 0));
    },
  },

  async run(peer, terminal) {
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    for (const time of ['first', 'second']) {
      const asked = performance.now();
      const sum = await peer.request<number>({ op: 'sum', numbers });
      terminal.line(`1 + 2 + … + 100 = ${sum}, answered the ${time} time after ${milliseconds(performance.now() - asked)}`);
      assert.equal(sum, 5_050);
    }
  },
};
