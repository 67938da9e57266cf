// The contract between the servers and the broker.
import { contract, request, stream } from 'rxmux/contract';
import type { Message, TopicItem } from 'rxmux/topics';
import type { Line } from '../api.js';

export const brokerApi = contract({
  follow: stream<{ room: string; since: string | null }, TopicItem<Line>>(),
  /** `null` for every line that is kept. */
  history: stream<{ room: string; since: string | null }, Message<Line, string>>(),
  publish: request<{ room: string; line: Line; key: string | undefined }, string>(),
  hear: stream<{ channel: string }, unknown>(),
  send: request<{ channel: string; value: unknown }>(),
});
