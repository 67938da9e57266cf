import type { MetadataInput } from '../../wire/frame.js';
import type { NamesOf } from '../../util/check.js';

/** Headers for this side's first frame on a stream that the remote opened. */
export interface SendOptions {
  /** Metadata ahead of the answer (S4), copied. An object without keys means none (S13). A TypeError after this side's first frame. Default none. */
  readonly headers?: MetadataInput | undefined;
}

/** Trailers, which leave with the end. */
export interface EndOptions {
  /** Metadata known only now, such as a count or a checksum (S4), copied. Default: the trailers of `setTrailers`, else none. */
  readonly trailers?: MetadataInput | undefined;
}

/** Headers, if the reply is this side's first frame, and trailers for this side's end. */
export interface ReplyOptions extends SendOptions, EndOptions {}

/** Names {@link SendOptions}. */
export const SEND_NAMES: NamesOf<SendOptions> = { headers: true };

/** Names {@link EndOptions}. */
export const END_NAMES: NamesOf<EndOptions> = { trailers: true };

/** Names {@link ReplyOptions}. */
export const REPLY_NAMES: NamesOf<ReplyOptions> = { headers: true, trailers: true };
