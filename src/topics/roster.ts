import { asyncScheduler, defer, distinctUntilChanged, finalize, merge, of, Subject } from 'rxjs';
import type { Observable } from 'rxjs';
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

  get isEmpty(): boolean {
    return this.#rooms.size === 0;
  }

  membersOf(room: string): ReadonlySet<string> {
    return new Set(this.#rooms.get(room)?.keys());
  }

  /** Each membership, once. */
  get memberships(): Membership[] {
    return [...this.#rooms].flatMap(([room, members]) => [...members.keys()].map((member): Membership => [room, member]));
  }
}

/** The members of one room at one moment. No later change reaches it. */
type List = ReadonlySet<string>;

/** The members of the observed rooms, as lists: at most one for each room and turn of the event loop, which all observers share. */
export class RoomLists {
  readonly #rooms = new Map<string, ObservedRoom>();
  /** The rooms that changed in this turn. */
  readonly #changed = new Set<ObservedRoom>();

  /** @param listOf makes a list of a room's members */
  constructor(private readonly listOf: (room: string) => List) {}

  /** Emits the list of a room, and another one after each turn that changed it. */
  of(room: string): Observable<List> {
    return defer(() => {
      const observed = getOrMake(this.#rooms, room, () => new ObservedRoom(() => this.listOf(room)));
      // In this order: an observer of the first list may subscribe to the room again, and leave it, before this one listens.
      return merge(observed.lists$, of(observed.latest())).pipe(
        // An observer that came within the turn has the list already.
        distinctUntilChanged(),
        finalize(() => {
          if (!observed.lists$.observed && this.#rooms.get(room) === observed) this.#rooms.delete(room);
        }),
      );
    });
  }

  /** Notes that a member has joined a room or left it. Costs the same in a room of any size. */
  changed([room, member]: Membership): void {
    const observed = this.#rooms.get(room);
    if (observed === undefined) return;
    observed.changed(member);
    if (this.#changed.size === 0)
      asyncScheduler.schedule(() => {
        this.#emit();
      });
    this.#changed.add(observed);
  }

  #emit(): void {
    const rooms = [...this.#changed];
    this.#changed.clear();
    for (const observed of rooms) observed.emit();
  }
}

class ObservedRoom {
  readonly lists$ = new Subject<List>();
  /** The list that was emitted last. */
  #list: List;
  /** The members who have joined or left since `#list`, except those who have come back. */
  readonly #changed = new Set<string>();
  /** The list of this moment, once an observer has asked for it. */
  #latest: List | null = null;

  constructor(private readonly make: () => List) {
    this.#list = make();
  }

  changed(member: string): void {
    if (!this.#changed.delete(member)) this.#changed.add(member);
    this.#latest = null;
  }

  latest(): List {
    if (this.#changed.size === 0) return this.#list;
    this.#latest ??= this.make();
    return this.#latest;
  }

  emit(): void {
    if (!this.lists$.observed) return;
    this.#list = this.latest();
    this.#changed.clear();
    this.lists$.next(this.#list);
  }
}
