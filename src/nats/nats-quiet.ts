import type { ConsumerMessages, JsMsg, StreamInfo } from '@nats-io/jetstream';

/**
 * A consumer whose server sends heartbeats receives a message within this time: heartbeats come each second, and the client notices two
 * that are missing.
 */
const DELIVERY_MS = 10_000;
const NS_PER_MS = 1_000_000;

/**
 * Returns whether a stream kept each message of a subject long enough for its delivery. Asked for the first message after a quiet time: its
 * consumer had received every message before, and heartbeats since.
 */
export function keptAll({ config, state }: StreamInfo, { info, time }: JsMsg): boolean {
  const { max_age, max_bytes, max_msgs, max_msgs_per_subject } = config;
  // Where a newer message of the subject has displaced one, this number of others waits behind this message.
  if (max_msgs_per_subject > 0 && info.pending >= max_msgs_per_subject - 1) return false;
  if (max_age > 0 && max_age < DELIVERY_MS * NS_PER_MS) return false;
  // The oldest messages of the stream go first.
  const hasRoom = max_bytes < 0 && max_msgs < 0;
  return hasRoom || Date.parse(state.first_ts) < time.getTime() - DELIVERY_MS;
}

/** Watches the heartbeats of a consumer. The returned function says whether they came since it was last asked. */
export function heartbeats(messages: ConsumerMessages): () => boolean {
  let hasMissed = false;
  const watch = async (): Promise<void> => {
    for await (const { type } of messages.status()) if (type === 'heartbeats_missed') hasMissed = true;
  };
  void watch();
  return () => {
    const were = !hasMissed;
    hasMissed = false;
    return were;
  };
}
