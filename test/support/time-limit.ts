/** The factor for time limits under CI, where other tests run on the same machine. */
const CI_SLACK = 4

/**
 * Returns the time limit in the unit of `limit`. Under CI, the limit is four times as long, which
 * still detects a slowdown by an order of magnitude. `npm run bench` gives exact figures.
 */
export const budget = (limit: number): number => limit * (process.env.CI ? CI_SLACK : 1)
