export { portSocket } from './transport/port-socket.js';
export type { PortLike } from './transport/port-events.js';
export type { SocketLike } from './transport/socket-like.js';
export { VERSION } from './version.js';
