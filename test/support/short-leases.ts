import { DEFAULT_DEADLINES } from '#relay/pipeline/deadlines.ts'

/**
 * Preloaded into product processes by `NODE_OPTIONS`, so that a test need not wait a minute for the
 * calls of a dead one: leases of eight seconds, everything else as it is.
 */
Object.assign(DEFAULT_DEADLINES, { leaseMs: 8_000, renewMs: 2_000, progressMs: 1_000 })
