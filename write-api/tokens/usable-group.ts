import { optionJson } from '#domain/options/registry.ts'
import type { Principal } from '#infra/http/principal.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'

/** Throws unless the user may use the group: the own one, or one that is open to everybody. */
export async function checkUsableGroup(
  { core }: Deps,
  user: Principal,
  group: string,
): Promise<void> {
  if (group === '' || group === user.group) return
  const { values } = await allOptions(core.db)
  const usable = optionJson(values, 'UserUsableGroups') as Readonly<Record<string, unknown>>
  if (!Object.hasOwn(usable, group)) throw refused('GroupNotUsable')
}
