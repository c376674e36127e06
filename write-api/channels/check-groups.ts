import { optionJson } from '#domain/options/registry.ts'
import { isName } from '#domain/shared/characters.ts'
import { invalidField } from '#infra/http/faults.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../act.ts'

/** The settings can't do without it. */
const FIRST = 'default'

/**
 * Refuses groups that the settings do not know: nobody could call through them, and a slip of the
 * pen would look like success. Those that the channel has already, `kept`, may stay.
 */
export async function checkGroups(
  { core }: Deps,
  field: 'group' | 'groups',
  groups: readonly string[],
  kept: readonly string[] = [],
): Promise<void> {
  const added = groups.filter((name) => name !== FIRST && !kept.includes(name))
  if (added.length === 0) return
  const { values } = await allOptions(core.db)
  const known = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  // What is no name at all is the domain's to refuse.
  const name = added.find((one) => isName(one) && !Object.hasOwn(known, one))
  if (name === undefined) return
  throw invalidField(field, {
    zh: `分组「${name}」不存在，请先在设置中添加`,
    en: `there is no group “${name}”: add it in the settings first`,
  })
}
