/**
 * Returns the UTC day of a time as text, such as `2026-11-22`. The texts sort in the order of the
 * days.
 */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)
