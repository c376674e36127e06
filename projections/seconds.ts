/** Converts unix milliseconds, which events use, to whole unix seconds, which read models use. */
export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000)
