import { connect, registerCodec } from 'rxmux';
import { MsgpackCodec } from 'rxmux/msgpack';

registerCodec('msgpack', new MsgpackCodec());

const peer = connect(new URLSearchParams(location.search).get('server') ?? '', { reconnect: true });

import.meta.hot?.accept();
import.meta.hot?.dispose(() => void peer.close());
