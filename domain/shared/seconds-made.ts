/**
 * Returns the length in seconds for which a video is charged, and which its user sees. It is at
 * most the requested length, for which quota was reserved. If the vendor reports no length, or 0,
 * it is the requested length, because a faulty report must not make a video free.
 */
export const secondsMade = (requested: number, reported: number | null | undefined): number =>
  Math.min(reported || requested, requested)
