import { setFlagsFromString } from 'node:v8'

// `npm start` has these flags on its command line. `NODE_OPTIONS` does not allow them.
setFlagsFromString('--heap-growing-percent=100')
setFlagsFromString('--no-allocation-site-pretenuring')
setFlagsFromString('--no-parallel-scavenge')
