// The contract between the page and the servers.
import { contract, plain, request, stream } from 'rxmux/contract';
import type { TopicItem } from 'rxmux/topics';
import * as v from 'valibot';

const room = v.picklist(['lobby', 'games', 'music']);
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(30));

/** A writer numbers its lines from 1, so a line that is said twice counts once. */
const line = v.object({ writer: v.pipe(v.string(), v.uuid()), nth: v.number(), name, text: v.pipe(v.string(), v.maxLength(1_000)) });

export type Room = v.InferOutput<typeof room>;
export type Line = v.InferOutput<typeof line>;

/** The members of a room, and the server that answers. */
export interface Present {
  readonly members: readonly string[];
  readonly server: string;
}

export const ROOMS = room.options;

export const api = contract({
  /** The lines after a cursor; `null` for all that are kept. */
  lines: stream({ payload: v.object({ room, since: v.nullable(v.string()) }), item: plain<TopicItem<Line>>() }),
  say: request({ payload: v.object({ room, line }), reply: plain<string>() }),
  /** Joins a room as long as the call lasts. */
  join: stream({ payload: v.object({ room, name }), item: plain<Present>() }),
  /** Ends the server that answers. Only a demo has this. */
  end: request({ payload: v.picklist(['SIGTERM', 'SIGKILL']) }),
});
