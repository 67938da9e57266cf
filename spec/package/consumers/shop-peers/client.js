import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { api, ask } from 'shop';

const peer = connect(process.argv[2]);
console.log(JSON.stringify(await ask(client(peer, api, { validate: true }))));
await peer.close();
