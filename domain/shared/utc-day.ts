/** Returns the UTC day as text that sorts by day, such as `2026-11-22`. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)
