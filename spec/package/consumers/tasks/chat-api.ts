import { contract, request, stream } from 'rxmux/contract';
import type { TopicItem } from 'rxmux/topics';

export const api = contract({
  say: request<{ line: string; key: string }, void>(),
  lines: stream<{ since: string | null }, TopicItem<string, string>>(),
});
