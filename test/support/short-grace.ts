import { HEALER_TIMES } from '#infra/event-store/eventstoredb/joint-healer.ts'

/** Preloaded into product processes by `NODE_OPTIONS`: a kill's half done acts are healed soon. */
Object.assign(HEALER_TIMES, { everyMs: 200, graceMs: 1_000 })
