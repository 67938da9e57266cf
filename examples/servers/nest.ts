// A gateway of NestJS: each `@SubscribeMessage` answers a request of the contract.
import 'reflect-metadata';
import { Module, type INestApplication, type WebSocketAdapter, type WsMessageHandler } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConnectedSocket, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { defer, type Observable } from 'rxjs';
import type { Peer } from 'rxmux';
import { answer, type Answers } from 'rxmux/contract';
import { serve, type MuxServer } from 'rxmux/node';
import { api } from './api.ts';
import { login, verify } from './session.ts';

declare module 'rxmux' {
  interface PeerContext {
    readonly user?: string;
  }
}

@WebSocketGateway({ path: '/mux' })
class Gateway {
  @SubscribeMessage('me')
  me(@ConnectedSocket() peer: Peer): string {
    return peer.context.user ?? '';
  }
}

@Module({ providers: [Gateway] })
class App {}

/** Gateways over rxmux. A handler may return a value, a promise or an Observable. */
class MuxAdapter implements WebSocketAdapter<MuxServer, Peer, { path: string }> {
  constructor(private readonly app: INestApplication) {}

  create(_port: number, { path }: { path: string }): MuxServer {
    return serve({ server: this.app.getHttpServer(), path, verify });
  }

  bindClientConnect(server: MuxServer, connected: (peer: Peer) => void): void {
    server.peers$.subscribe(connected);
  }

  bindMessageHandlers(peer: Peer, handlers: WsMessageHandler[], transform: (result: unknown) => Observable<unknown>): void {
    const answers = handlers.map(({ message, callback }) => [message, (payload: unknown) => defer(() => transform(callback(payload)))]);
    peer.streams$.pipe(answer(api, Object.fromEntries(answers) as Answers<typeof api>)).subscribe();
  }

  close(server: MuxServer): Promise<unknown> {
    return server.close();
  }

  dispose(): void {} // called at shutdown, after all servers are closed
}

const app = await NestFactory.create(App, { logger: ['error', 'warn'] });
app.use('/login', login).useWebSocketAdapter(new MuxAdapter(app)).enableShutdownHooks();
await app.listen(Number(process.argv[2] ?? 8080), '127.0.0.1');
console.log('listening', app.getHttpServer().address().port);
