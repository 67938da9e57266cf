// The client of the README, with the error of its dial.
import { client } from 'rxmux/contract';
import { connect } from 'rxmux/node';
import { api } from './api.ts';

const peer = connect(process.argv[2] ?? '');
console.log(await client(peer, api).square.promise({ n: 12 }).catch(String));
await peer.close();
