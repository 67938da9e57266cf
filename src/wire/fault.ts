import { CloseCode } from './close-reason.js';
import { ProtocolError } from './errors.js';
import { ResetCode } from './codes.js';

/**
 * Ends one stream: the fault that the receiver found, and the reset that answers it. The connection lives.
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, payload: 'x', more: true }).pipe(assemble(new JsonCodec())).subscribe(console.log);
 * // StreamFault { stream: 1, code: 1, reason: "expected a fragment beside 'more', got a payload" }
 * ```
 */
export class StreamFault {
  constructor(
    /** The id of the stream. */
    readonly stream: number,
    /** The code of the reset. */
    readonly code: ResetCode,
    /** The rule or the limit that the remote broke, for people. */
    readonly reason: string,
  ) {}
}

/** Ends the connection: framing or shared state is in doubt, or the connection exceeds a limit of its own. */
export class ConnectionFault extends ProtocolError {
  constructor(
    message: string,
    /** The code of the goaway that announces the end. */
    readonly resetCode: ResetCode = ResetCode.PROTOCOL_ERROR,
    /** The WebSocket close code that follows it. */
    readonly closeCode: number = CloseCode.PROTOCOL_ERROR,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** A limit that concerns the connection as a whole: goaway ENHANCE_YOUR_CALM, close 1008. */
  static tooMuch(reason: string): ConnectionFault {
    return new this(reason, ResetCode.ENHANCE_YOUR_CALM, CloseCode.POLICY);
  }
}
