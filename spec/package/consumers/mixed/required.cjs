module.exports = { root: require('rxmux'), msgpack: require('rxmux/msgpack') };
