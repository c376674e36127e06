import type { TokenIds } from '#write-api/contract/token.ts'
import { refused } from '../refusals.ts'

/** Each id once. Throws when none was chosen. */
export function idsChosen({ ids }: TokenIds): readonly number[] {
  if (ids.length === 0) throw refused('NoTokenChosen')
  return [...new Set(ids)]
}
