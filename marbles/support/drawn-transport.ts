import { EMPTY, Subject, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { ScriptedTransport } from '../../spec/support/socket/scripted-transport.js';
import type { SocketClose } from '../../src/transport/transport.js';
import type { Message } from '../../src/wire/codec.js';

/** A transport whose messages follow a diagram. */
export class DrawnTransport extends ScriptedTransport {
  readonly #ended = new Subject<void>();

  constructor(private readonly drawn$: Observable<Message>) {
    super();
  }

  override get messages$(): Observable<Message> {
    return this.closed === null ? this.drawn$.pipe(takeUntil(this.#ended)) : EMPTY;
  }

  override end(close?: SocketClose | null): void {
    super.end(close);
    this.#ended.next();
  }
}
