/** The day of a moment, UTC: `2026-11-22`. Days compare as texts do. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)
