import { expect } from '@jest/globals';
import { ResetCode } from '../../src/index.js';
import { describeHostile } from '../support/hostile/case.js';
import type { Step } from '../support/hostile/case.js';
import { answersPing } from '../support/hostile/steps.js';

describeHostile('large payloads of resets', [
  {
    name: 'The peer sends a reset in fragments when the error serializer returns more than 16 MiB',
    role: 'acceptor',
    options: {
      errorSerializer: () => 'x'.repeat(16 * 1024 * 1024 + 1),
      onStream: () => {
        throw new Error('why');
      },
    },
    send: [
      { type: 'open', stream: 3, payload: 'p' },
      50,
      ...Array.from({ length: 16 }, (): readonly Step[] => [answersPing, 50]).flat(),
      (remote) => {
        const sent = remote.news();
        expect(sent.length).toBeGreaterThan(256);
        expect(sent.filter(({ type, stream, code }) => type !== 'reset' || stream !== 3 || code !== ResetCode.APPLICATION_ERROR)).toEqual(
          [],
        );
        expect(sent.map(({ more }) => more === true).indexOf(false)).toBe(sent.length - 1);
      },
    ],
    expect: 'lives',
    handlerCalls: 1,
  },
]);
