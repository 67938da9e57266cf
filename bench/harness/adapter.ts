/** The needs of a workload beyond the defaults of peers. An adapter raises only the limits that these needs exceed. */
export interface Needs {
  /** The largest payload, in bytes. */
  readonly payloadBytes?: number | undefined;
  /** Scalars, keys, arrays and objects in one payload. */
  readonly payloadItems?: number | undefined;
  /** Streams and requests open at once. */
  readonly streams?: number | undefined;
}

/** The service that every server offers. */
export interface Service {
  /** The reply to a request. */
  answer(payload: unknown): unknown;
  /** The items of a server stream; `null` for one that stays open and sends nothing. */
  items(ask: StreamAsk): Iterable<unknown> | null;
  /** Calls `publish` with each value that every subscriber of the feed receives. Returns a function that stops this. */
  onFeed(publish: (value: unknown) => void): () => void;
}

/** The request for a server stream. */
export interface StreamAsk {
  readonly items: number;
  /** Bytes of one item. Without it, items are small objects. */
  readonly bytes?: number;
  /** Subscribes to the feed of the server instead. Only the adapters of `WITH_FEED` can. */
  readonly feed?: true;
  /** How rxmux answers. The others leave it out. Default `'iterable'`. */
  readonly by?: AnsweredBy;
}

/**
 * The ways in which a server of rxmux answers a stream. It answers a feed on the stream, or by `'notify'`: a notification for each value.
 * A `'topic'` is a log that the client follows.
 */
export type AnsweredBy = 'iterable' | 'generator' | 'observable' | 'send' | 'notify' | 'topic';

export interface Listener {
  readonly port: number;
  close(): Promise<void> | void;
}

/** The reader of a stream. */
export interface Sink {
  readonly next: (item: unknown) => void;
  readonly error: (error: unknown) => void;
  readonly complete: () => void;
}

/** Metadata of a request. Only the adapters of `WITH_HEADERS` carry it. */
export type Headers = Readonly<Record<string, string>>;

export interface Client {
  request(payload: unknown, headers?: Headers): Promise<unknown>;
  stream(ask: StreamAsk, sink: Sink): void;
  close(): Promise<void> | void;
}

/** One library, or one floor, under measurement: the half that serves and the half that dials. */
export interface Adapter {
  /** The limits that the adapter raises for these needs. The pages print them beside the figures. */
  limits(needs: Needs): Readonly<Record<string, number>>;
  listen(service: Service, needs: Needs): Promise<Listener>;
  /** Resolves once requests can be made. */
  connect(port: number, needs: Needs): Promise<Client>;
}
