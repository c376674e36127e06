import { DEFAULT_DEADLINES } from '#relay/pipeline/call-deadlines-and-timer.ts'

/**
 * Ends the calls of a killed process soon. Product processes preload this module through
 * `NODE_OPTIONS`.
 */
Object.assign(DEFAULT_DEADLINES, { leaseMs: 8_000, renewMs: 2_000, progressMs: 1_000 })
