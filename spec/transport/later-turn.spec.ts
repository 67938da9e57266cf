import { describe, expect, it } from '@jest/globals';
import { laterTurn, throughChannel } from '../../src/transport/w3c.js';
import { otherPlatform } from '../support/platform/globals.js';
import { turn, until } from '../support/socket/leaks.js';

const pretend = otherPlatform();

const ports = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;

describe('a later turn', () => {
  it.each<readonly [how: string, globals: Readonly<Record<string, unknown>>, later: typeof laterTurn]>([
    ['on Node', {}, laterTurn],
    ['through a message channel', {}, throughChannel],
    ['through a timer, without channels', { MessageChannel: undefined }, throughChannel],
  ])('A later turn comes after all microtasks, %s', async (_how, globals, later) => {
    pretend(globals);
    const order: string[] = [];
    const done = new Promise<void>((resolve) => {
      later(() => {
        order.push('turn');
        resolve();
      });
    });
    for (let n = 0; n < 100; n++) await Promise.resolve();
    order.push('microtasks');
    await done;
    expect(order).toEqual(['microtasks', 'turn']);
  });

  it('`throughChannel` closes its channel, so that the process can exit', async () => {
    const before = ports();
    for (let n = 0; n < 10; n++) await new Promise<void>(throughChannel);
    await until('the channels to close', () => ports() <= before);
    await turn();
    expect(ports()).toBeLessThanOrEqual(before);
  });
});
