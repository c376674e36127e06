/** How a call came to its end, where that needs saying. */
export const END_NAMES = [
  'client-gone',
  'upstream-error',
  'timeout',
  'incomplete',
  'screened',
  'revoked',
  'interrupted',
  'no-channel',
  'refused',
] as const
export type EndName = (typeof END_NAMES)[number]

/** Null for a call that was done, and for rows that are no calls. */
export const endName = (end: string | undefined): EndName | null =>
  END_NAMES.find((name) => name === end) ?? null
