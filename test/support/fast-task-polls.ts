import { POLL_TIMES } from '#relay/tasks/poll-tasks.ts'

/** Product processes preload this module through `NODE_OPTIONS`. */
Object.assign(POLL_TIMES, { everyMs: 50 })
