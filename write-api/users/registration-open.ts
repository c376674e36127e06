import type { CommonQueryMethods } from 'slonik'
import { optionFlag } from '#domain/options/registry.ts'
import { siteState } from '#projections/options/query.ts'
import { refused } from '../refusals.ts'

/**
 * Strangers may make an account, by whichever way. A site for its own use takes none, and none is
 * taken before the site is set up: its first account is its owner's.
 */
export async function refuseUnlessOpen(
  db: CommonQueryMethods,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  const isOpen = optionFlag(values, 'RegisterEnabled') && !optionFlag(values, 'SelfUseModeEnabled')
  const isSetUp = (await siteState(db)).rootUserId !== null
  if (!isOpen || !isSetUp) throw refused('RegistrationClosed')
}
