/**
 * Converts unix milliseconds, which events contain, to whole unix seconds, which read models
 * contain.
 */
export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000)
