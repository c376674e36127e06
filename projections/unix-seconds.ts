/**
 * Converts milliseconds to seconds, rounded down. Events contain milliseconds, and read models
 * contain seconds.
 */
export const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000)
