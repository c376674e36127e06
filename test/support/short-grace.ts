import { HEALER_TIMES } from '#infra/event-store/eventstoredb/joint-healer.ts'

/** Preloaded into product processes by `NODE_OPTIONS`: what a kill left undone is healed soon. */
Object.assign(HEALER_TIMES, { everyMs: 200, graceMs: 1_000 })
