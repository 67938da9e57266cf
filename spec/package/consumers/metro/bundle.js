// Bundles index.js with the default configuration of React Native, but without React Native itself.
const { getDefaultConfig, mergeConfig } = require('@react-native/metro-config');
const { runBuild } = require('metro');

const config = mergeConfig(getDefaultConfig(__dirname), {
  serializer: { getModulesRunBeforeMainModule: () => [], getPolyfills: () => [] },
});
runBuild(config, { entry: 'index.js', platform: 'ios', dev: false, minify: false, out: 'bundle.out.js' }).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
