import { POLL_TIMES } from '#relay/tasks/poll-times.ts'

/** Product processes preload this module through `NODE_OPTIONS`. */
Object.assign(POLL_TIMES, { everyMs: 50 })
