/* Logs */
export type { Log, Message, PublishOptions, TopicItem } from './topics/log.js';
export { memoryLog } from './topics/memory-log.js';
export type { MemoryLogOptions } from './topics/memory-log.js';
export { CursorLost } from './topics/cursor-lost.js';

/* The server */
export { answerTopic } from './topics/answer-topic.js';
export { catchUp } from './topics/catch-up.js';
export type { CatchUpOptions, Followed } from './topics/catch-up.js';
export type { TopicOverflow } from './topics/overflow.js';

/* The client */
export { topic } from './topics/topic.js';
export type { TopicOptions } from './topics/topic.js';
export { VERSION } from './version.js';
