import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, NEVER } from 'rxjs';
import type { StreamHandler } from '../../src/peer/hooks.js';
import { createPair } from '../../src/testing.js';
import { askingIn } from '../support/peer-answers.js';
import { framesOf } from '../support/peer-frames.js';
import { collectLogs } from '../support/peer-logs.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();
const logs = collectLogs();
const answered = askingIn(time);

describe('a handler', () => {
  it('works on both ends: the dialer gets pushes', async () => {
    const { dialer, acceptor } = createPair();
    dialer.onStream((payload, stream) => stream.reply(`got ${String(payload)}`));
    const answer = acceptor.request('push');
    await time.advance();
    expect(await answer).toBe('got push');
  });

  it('settles synchronously when it returns no thenable', () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.onStream(() => NEVER);
    void dialer.request();
    return time.advance().then(() => {
      expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
      expect(logs.warnings).toEqual([
        'rxmux: a handler returned an Observable, which nobody subscribes to: answer with stream.sendAll() or respond()',
      ]);
    });
  });

  it('may return a thenable of any kind, also one that settles twice', async () => {
    const twice = {
      then(resolve: () => void, reject: (error: Error) => void) {
        resolve();
        reject(new Error('again'));
        resolve();
      },
    };
    const { sent } = await answered(() => twice);
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true }]);
  });

  it('may return a thenable whose then throws, which is a failure', async () => {
    const { sent } = await answered(() => ({
      then() {
        throw new Error('then');
      },
    }));
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name: 'Error', message: 'then' }, reason: 'then' }]);
  });

  it('is called once per stream with null for an open without a payload', async () => {
    const { dialer, acceptor } = createPair();
    const handler = jest.fn<StreamHandler>((_, stream) => stream.reply());
    acceptor.onStream(handler);
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBeNull();
    expect(handler.mock.calls.map(([payload]) => payload)).toEqual([null]);
  });

  it('can be given with the options, and with serve()', async () => {
    const { dialer, acceptor } = createPair({ dialer: { onStream: (_, stream) => stream.reply('option') } });
    void acceptor.serve((_, stream) => stream.reply('serve'));
    const answers = Promise.all([dialer.request(), acceptor.request(), firstValueFrom(dialer.request$())]);
    await time.advance();
    expect(await answers).toEqual(['serve', 'option', 'serve']);
  });
});
