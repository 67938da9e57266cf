import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { createPair } from '../../src/testing.js';
import { CursorLost, catchUp, memoryBus, room, usersOf } from '../../src/topics.js';

describe('usersOf', () => {
  it('`toUser` notifies each connection of the user, and no other one', async () => {
    const bus = memoryBus();
    const [one, two] = [usersOf(bus), usersOf(bus)];
    const pairs = [createPair(), createPair(), createPair()] as const;
    const received = pairs.map(() => [] as unknown[]);
    for (const [nth, { dialer }] of pairs.entries()) dialer.onStream((payload) => void received[nth]?.push(payload));
    one.add('ann', pairs[0].acceptor);
    two.add('ann', pairs[1].acceptor);
    two.add('bob', pairs[2].acceptor);
    await one.toUser('ann').notify('hello');
    await Promise.all(pairs.map(({ acceptor }) => acceptor.ping()));
    expect(received).toEqual([['hello'], ['hello'], []]);
  });

  it('`usersOf` drops a connection that has closed, or was taken back', async () => {
    const bus = memoryBus();
    const users = usersOf(bus);
    const [left, closed] = [createPair(), createPair()];
    users.add('ann', left.acceptor).unsubscribe();
    users.add('ann', closed.acceptor);
    await closed.acceptor.close();
    const received: unknown[] = [];
    left.dialer.onStream((payload) => void received.push(payload));
    await users.toUser('ann').notify('hello');
    await left.acceptor.ping();
    expect(received).toEqual([]);
  });
});

describe('room', () => {
  it('A room emits messages to its subscribers, and calls places before others lost', async () => {
    const typing = room<string>(memoryBus(), 'typing');
    const items = catchUp(typing, null)[Symbol.asyncIterator]();
    const place = (await items.next()).value?.cursor ?? '';
    const next = items.next();
    await typing.publish('ann');
    expect((await next).value).toMatchObject({ value: 'ann' });
    await expect(firstValueFrom(catchUp(typing, place))).rejects.toThrow(CursorLost);
    await expect(typing.publish(undefined as never)).rejects.toThrow('expected a value it can carry at value, got undefined');
  });

  it('A room has new places after its last subscriber has left', async () => {
    const typing = room<string>(memoryBus(), 'typing');
    const first = await firstValueFrom(catchUp(typing, null));
    await expect(firstValueFrom(catchUp(typing, first.cursor))).rejects.toThrow(CursorLost);
  });
});
