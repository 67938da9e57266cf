import { defer, delay, filter, firstValueFrom, map, merge, Observable, timeout } from 'rxjs';
import { BrokerError } from '../topics/broker-error.js';
import { busOver } from '../topics/bus.js';
import type { Bus } from '../topics/bus.js';
import { checkSubject, linkOf } from './nats-connection.js';
import type { NatsConnection } from './nats-connection.js';
import { explain } from './nats-error.js';

/** A server that is silent this long does not answer: as long as the client waits for an answer of JetStream. */
const SILENCE_MS = 5_000;

/**
 * Makes a bus over subjects of NATS, without JetStream: each value at most once. Values are JSON.
 *
 * `send` rejects, and a channel errors, with a `BrokerError`. While NATS is away, channels stay open and values are lost.
 *
 * @param nc connected already, with `maxReconnectAttempts: -1`
 * @param prefix begins every subject. Default `'rxmux'`
 * @throws TypeError for another connection, and unless `prefix` is a subject of at most 256 bytes.
 *   `on` throws it, and `send` rejects with it, for a channel of more than 1 024 bytes
 *
 * @example
 * ```ts
 * const nc = await connect({ servers: 'nats://localhost:4222', maxReconnectAttempts: -1 });
 * const present = presence(natsBus(nc));
 * ```
 */
export function natsBus(nc: NatsConnection, prefix = 'rxmux'): Bus {
  const link = linkOf(nc);
  checkSubject('prefix', prefix, 256);
  const subjectOf = (channel: string): string => `${prefix}.${tokenOf(channel)}`;
  return busOver({
    hear: (channel, name) => textsOf(nc, subjectOf(channel), name),
    send: (channel, json) => {
      const subject = subjectOf(channel);
      const refused$ = link.errors$.pipe(
        filter((error) => isAbout(error, subject)),
        map((error) => {
          throw error;
        }),
      );
      // The server refuses before it answers the flush, but the client reports that some microtasks later.
      const sent$ = defer(() => {
        nc.publish(subject, json);
        return nc.flush();
      }).pipe(delay(0));
      return link.ask(() => firstValueFrom(merge(refused$, sent$).pipe(timeout(SILENCE_MS))));
    },
    explain: (error, name) => explain(error, name, nc),
  });
}

function textsOf(nc: NatsConnection, subject: string, name: string): Observable<string> {
  return new Observable((subscriber) => {
    const subscription = nc.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) subscriber.error(error);
        else subscriber.next(message.string());
      },
    });
    void subscription.closed.then((error) => {
      subscriber.error(error ?? new BrokerError('BROKER_CLOSED', `${name}: the connection to NATS is closed`));
    });
    return () => {
      subscription.unsubscribe();
    };
  });
}

/** Whether the server has refused to publish to a subject. Several copies of the client have several classes, so fields count. */
function isAbout(error: Error & { readonly operation?: unknown; readonly subject?: unknown }, subject: string): boolean {
  return error.operation === 'publish' && error.subject === subject;
}

/** A channel as one token of a subject: dots, spaces, wildcards and halves of surrogate pairs are percent-encoded. */
function tokenOf(channel: string): string {
  const encoded = channel.replace(/\P{Surrogate}+/gu, (text) => encodeURIComponent(text));
  if (encoded === '') return '%';
  return encoded.replace(/[.*]|\p{Surrogate}/gu, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}
