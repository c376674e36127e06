/** The factor under CI, where other tests run on the same machine. */
const CI_SLACK = 4

/**
 * The limit is longer under CI, but still detects a slowdown by an order of magnitude. `npm run
 * bench` gives exact figures.
 */
export const budget = (limit: number): number => limit * (process.env.CI ? CI_SLACK : 1)
