/** What a workload needs beyond what peers allow by default; an adapter raises those of its limits that this exceeds, and no others. */
export interface Needs {
  /** The largest payload, in bytes. */
  readonly payloadBytes?: number | undefined;
  /** Scalars, keys, arrays and objects in one payload. */
  readonly payloadItems?: number | undefined;
  /** Streams and requests open at once. */
  readonly streams?: number | undefined;
}

/** What every server answers. */
export interface Service {
  /** The reply to a request. */
  answer(payload: unknown): unknown;
  /** The items of a server stream; `null` for one that stays open and sends nothing. */
  items(ask: StreamAsk): Iterable<unknown> | null;
}

/** What the opener of a server stream asks for. */
export interface StreamAsk {
  readonly items: number;
  /** Bytes of one item; small objects without. */
  readonly bytes?: number;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void> | void;
}

/** Whoever reads a stream. */
export interface Sink {
  readonly next: (item: unknown) => void;
  readonly error: (error: unknown) => void;
  readonly complete: () => void;
}

export interface Client {
  request(payload: unknown): Promise<unknown>;
  stream(ask: StreamAsk, sink: Sink): void;
  close(): Promise<void> | void;
}

/** One library, or one floor, under measurement: the half that serves and the half that dials. */
export interface Adapter {
  /** The limits that it raises for these needs, to be printed beside the figures. */
  limits(needs: Needs): Readonly<Record<string, number>>;
  listen(service: Service, needs: Needs): Promise<Listener>;
  /** Resolves once requests can be made. */
  connect(port: number, needs: Needs): Promise<Client>;
}
