/**
 * Typed calls: one declaration, checked by the compiler at both ends.
 *
 * @example
 * ```ts
 * import { answering, client, contract } from 'rxmux/contract';
 * ```
 *
 * @module rxmux/contract
 */
/* Declaring */
export { channel, plain, request, stream, upload } from './contract/procedure.js';
export type {
  ChannelProcedure,
  Checked,
  Kind,
  Procedure,
  Received,
  RequestProcedure,
  Sent,
  StreamProcedure,
  UploadProcedure,
} from './contract/procedure.js';
export { contract } from './contract/contract.js';
export type { Contract, ContractOptions, NamesOf } from './contract/contract.js';
export type { Carried, CodecIn, CodecName, Over, OverCodec } from './contract/carried.js';
export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './contract/procedure.js';

/* Calling */
export { client } from './contract/client.js';
export type {
  Arriving,
  CallOf,
  ChannelCall,
  Client,
  ClientOptions,
  Item,
  Payload,
  Reply,
  RequestCall,
  SendingOptions,
  StreamCall,
  UploadCall,
} from './contract/client.js';
export { shared } from './peer/shared.js';
export type { SharedOptions } from './peer/shared.js';

/* Errors */
export { fail, isFailure, whenError } from './contract/failure.js';
export type { CaughtData, CommonErrors, ErrorData, ErrorsOf, Failure, Issue } from './contract/failure.js';

/* Answering */
export { answer } from './contract/answer.js';
export { answering } from './contract/answer.js';
export type { Answering, AnsweringOptions, ContextOf, Verify } from './contract/answer.js';
export type { AnswerTo, Around, Answers, AnswerOptions, Items, ReplyInput } from './contract/answer.js';
export type { Call, Inputs } from './contract/call.js';
export { VERSION } from './version.js';
