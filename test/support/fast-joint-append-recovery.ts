import { RECOVERY_TIMES } from '#infra/event-store/eventstoredb/interrupted-append-timings.ts'

/** Product processes preload this module through `NODE_OPTIONS`. */
Object.assign(RECOVERY_TIMES, { everyMs: 200, graceMs: 1_000 })
