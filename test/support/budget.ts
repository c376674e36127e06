/** A landing's machine runs other tests, and other landings, beside a measured one. */
const CI_SLACK = 4

/**
 * The most that a measured time may be, in the unit of `limit`: `limit` itself at a desk, four
 * times as much under CI, where a budget is broken by an order of magnitude or not at all.
 * Exact figures come from `npm run bench`.
 */
export const budget = (limit: number): number => limit * (process.env.CI ? CI_SLACK : 1)
