import Type, { type Static } from 'typebox'

export const LatestRelease = Type.Object({
  /** What runs here. */
  current: Type.String(),
  /** Empty: nobody was asked. */
  latest: Type.String(),
  /** What is new, as its author wrote it. */
  notes: Type.String(),
  is_newer: Type.Boolean(),
  /** Unix seconds; 0: nobody was asked. */
  checked_at: Type.Integer(),
})
export type LatestRelease = Static<typeof LatestRelease>
