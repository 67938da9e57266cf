export { MsgpackCodec } from './codec/msgpack.js';
export { VERSION } from './version.js';
