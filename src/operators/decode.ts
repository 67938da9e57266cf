import type { OperatorFunction } from 'rxjs';
import { mapPresent } from '../rx/pipeline.js';
import { isError, optionError } from '../util/check.js';
import { checkedCodec } from '../wire/codec.js';
import type { Codec, Message } from '../wire/codec.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import { completeFrame } from '../wire/frame.js';
import type { CompleteFrame } from '../wire/frame.js';
import type { DecodeLimits } from '../wire/limits.js';

/**
 * Decodes each socket message to one frame.
 *
 * Errors with a `ProtocolError` on a message of the wrong kind: text under a binary codec or the reverse. The kind never chooses the
 * decoder. Errors too on a message that the codec cannot decode. Both errors mean that the connection has to end.
 *
 * @param limits the sizes that the codec accepts; default `DEFAULT_LIMITS`
 *
 * @example
 * ```ts
 * of('{"type":"ping","nonce":"n1"}').pipe(decode(new JsonCodec())).subscribe((frame) => console.log(frame.type, frame.nonce));
 * // ping n1
 * ```
 */
export function decode(codec: Codec, limits?: DecodeLimits): OperatorFunction<Message, CompleteFrame> {
  return mapPresent(decoded, { codec: checkedCodec(codec), limits });
}

interface Decoding {
  readonly codec: Codec;
  readonly limits: DecodeLimits | undefined;
}

function decoded(this: Decoding, message: Message): CompleteFrame {
  const { codec, limits } = this;
  if ((typeof message !== 'string') !== codec.binary) {
    const [expected, got] = codec.binary ? ['a binary', 'text'] : ['a text', 'binary'];
    throw new ConnectionFault(
      `expected ${expected} message for codec '${codec.name}', got a ${got} one`,
      ResetCode.PROTOCOL_ERROR,
      CloseCode.WRONG_MESSAGE_KIND,
    );
  }
  try {
    const frame = codec.decode(message, limits);
    if (typeof frame.type !== 'string') throw optionError('codec.decode', 'a frame', frame);
    return completeFrame(frame);
  } catch (cause) {
    throw new ConnectionFault(isError(cause) ? cause.message : `codec '${codec.name}' could not decode a message`, undefined, undefined, {
      cause,
    });
  }
}
