/** Returns the UTC day of a time, such as `2026-11-22`. Days can be compared as texts. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)
