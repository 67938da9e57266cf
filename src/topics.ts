/**
 * Topics over many servers: history, cursors, slow subscribers, presence.
 *
 * @example
 * ```ts
 * import { answerTopic, topic } from 'rxmux/topics';
 * ```
 *
 * @module rxmux/topics
 */
/* Logs */
export type { Log, Message, PublishOptions, TopicItem } from './topics/log.js';
export { memoryLog } from './topics/memory.js';
export type { MemoryLogOptions } from './topics/memory.js';
export { CursorLost } from './topics/cursor.js';
export { BrokerError } from './topics/broker-error.js';
export type { BrokerErrorCode } from './topics/broker-error.js';

/* A bus: what all servers hear, at most once */
export { memoryBus } from './topics/memory.js';
export type { Bus } from './topics/bus.js';
export { presence } from './topics/presence.js';
export type { Presence, PresenceOptions } from './topics/presence.js';
export { room } from './topics/room.js';
export { usersOf } from './topics/users.js';
export type { Recipient, Users } from './topics/users.js';

/* The server */
export { answerTopic } from './topics/answer-topic.js';
export { catchUp } from './topics/catch-up.js';
export type { CatchUpOptions, Followed } from './topics/catch-up.js';
export type { TopicOverflow } from './topics/log-reader.js';
export { replayable } from './topics/replayable.js';
export type { Replayable, ReplayableOptions, ReplayableSource } from './topics/replayable.js';

/* The client */
export { topic } from './topics/topic.js';
export type { TopicOptions } from './topics/topic.js';
export { VERSION } from './version.js';
