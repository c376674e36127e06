import { optionFlag } from '#domain/options/registry.ts'
import { refused } from '../refusals.ts'

/** Strangers may make an account, by whichever way. A site for its own use takes none. */
export function refuseUnlessOpen(values: ReadonlyMap<string, string>): void {
  const isOpen = optionFlag(values, 'RegisterEnabled') && !optionFlag(values, 'SelfUseModeEnabled')
  if (!isOpen) throw refused('RegistrationClosed')
}
