import { getOrMake } from '../util/collections.js';

/** A member of a room. */
export type Membership = readonly [room: string, member: string];

/** Whether a value of the bus is a membership. */
export function isMembership(value: unknown): value is Membership {
  return Array.isArray(value) && value.length === 2 && value.every((name) => typeof name === 'string');
}

/** Counts the holders of each membership: a member may have joined by several connections. */
export class Roster {
  readonly #rooms = new Map<string, Map<string, number>>();

  /** Returns whether the member is new in the room. */
  add([room, member]: Membership): boolean {
    const members = getOrMake(this.#rooms, room, () => new Map<string, number>());
    const holders = members.get(member) ?? 0;
    members.set(member, holders + 1);
    return holders === 0;
  }

  /** Returns whether the member has left the room. */
  remove([room, member]: Membership): boolean {
    const members = this.#rooms.get(room);
    const holders = members?.get(member);
    if (members === undefined || holders === undefined) return false;
    if (holders > 1) members.set(member, holders - 1);
    else members.delete(member);
    if (members.size === 0) this.#rooms.delete(room);
    return holders === 1;
  }

  membersOf(room: string): ReadonlySet<string> {
    return new Set(this.#rooms.get(room)?.keys());
  }

  /** Each membership, once. */
  get memberships(): Membership[] {
    return [...this.#rooms].flatMap(([room, members]) => [...members.keys()].map((member): Membership => [room, member]));
  }
}
