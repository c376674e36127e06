import { POLL_TIMES } from '#relay/tasks/poll-tasks.ts'

/** Preloaded into product processes by `NODE_OPTIONS`: providers are asked about tasks at once. */
Object.assign(POLL_TIMES, { everyMs: 50 })
