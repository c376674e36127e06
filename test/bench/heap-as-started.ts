import { setFlagsFromString } from 'node:v8'

// `npm start` has this flag on its command line. `NODE_OPTIONS` does not allow it.
setFlagsFromString('--heap-growing-percent=100')
