import { DEFAULT_DEADLINES } from '#relay/pipeline/deadlines.ts'

/**
 * Ends the calls of a killed process soon. Product processes preload this module through
 * `NODE_OPTIONS`.
 */
Object.assign(DEFAULT_DEADLINES, { leaseMs: 8_000, renewMs: 2_000, progressMs: 1_000 })
