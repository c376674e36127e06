import { optionJson } from '#domain/options/option-registry.ts'
import { isName } from '#domain/shared/check-characters.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../action.ts'

const DEFAULT_GROUP = 'default'

/**
 * Throws if a request adds a group that does not exist in the settings. No user can make calls in
 * such a group, so the name is probably a typo.
 */
export async function checkGroups(
  { core }: Deps,
  field: 'group' | 'groups',
  groups: readonly string[],
  currentGroups: readonly string[] = [],
): Promise<void> {
  const added = groups.filter((name) => name !== DEFAULT_GROUP && !currentGroups.includes(name))
  if (added.length === 0) return
  const { values } = await allOptions(core.db)
  const existing = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  // Invalid names are skipped, because the domain reports them.
  const name = added.find((one) => isName(one) && !Object.hasOwn(existing, one))
  if (name === undefined) return
  throw invalidField(field, {
    zh: `分组「${name}」不存在，请先在设置中添加`,
    en: `the group “${name}” does not exist. Add it in the settings first`,
  })
}
