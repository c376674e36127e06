/** Unix milliseconds, as events have them, to whole unix seconds, as read models do. */
export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000)
