import { POLL_TIMES } from '#relay/tasks/poll-tasks.ts'

/** Polls tasks every 50 ms. Product processes preload this module through `NODE_OPTIONS`. */
Object.assign(POLL_TIMES, { everyMs: 50 })
