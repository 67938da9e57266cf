// One Durable Object has all peers, so they can be notified together.
import { refuse, serve } from 'rxmux/workerd';
import { appOf } from './app.js';

export class Room {
  #app = appOf(serve, refuse);

  fetch(request) {
    const { muxes, control } = this.#app;
    return muxes[new URL(request.url).pathname]?.fetch(request) ?? control(request);
  }
}

export default {
  fetch(request, { ROOM }) {
    return ROOM.get(ROOM.idFromName('the room')).fetch(request);
  },
};
