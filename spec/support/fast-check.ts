import fc from 'fast-check';

const seed = process.env['PROPERTY_SEED'];
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });

/** The library fast-check. Each property begins at the seed `PROPERTY_SEED` of the environment. Default: a new seed each time. */
export default fc;
