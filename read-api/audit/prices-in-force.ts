import { DEFAULT_GROUP_RATIOS, DEFAULT_RATIOS } from '#domain/pricing/default-ratios.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { type PriceChange, pricesInForce } from '#projections/price-history/query.ts'
import type { PriceInForce } from '../contract/calls.ts'
import { userIdOf } from '../read-dependencies-and-query-parameters.ts'

type Scope = {
  readonly model: string
  readonly group: string
  readonly userGroup: string
  /** The names of the provider's tools (such as web search) whose price entries are listed too. */
  readonly tools: readonly string[]
  readonly position: number
}

/**
 * Lists the entries of the price options that applied to a model and a group at a position. Each
 * entry has the user who set it, unless the value is built in. The fallback prices, which are
 * entries without a name, are listed only if the model has no price.
 */
export async function listPricesInForce(
  { db }: Pick<Core, 'db'>,
  { model, group, userGroup, tools, position }: Scope,
): Promise<PriceInForce[]> {
  const toolNames = tools.flatMap((tool) => [tool, `${tool}:${model}`])
  const models = [model, ...toolNames]
  const rows = await pricesInForce(db, { models, group, userGroup, position })
  const set = rows.filter(({ after }) => after !== null).map(entryOf)
  const isPriced = set.some(({ name, option }) => name === model && option.startsWith('Model'))
  const builtIn = builtInEntries(model, group, tools).filter(
    ({ option, name }) => !set.some((one) => one.option === option && one.name === name),
  )
  const hasPrice = isPriced || builtIn.some(({ option }) => option.startsWith('Model'))
  const isUsed = ({ name }: PriceInForce) => name !== '' || !hasPrice
  return [...set.filter(isUsed), ...builtIn]
}

const entryOf = (row: PriceChange): PriceInForce => ({
  option: row.option,
  name: nameOf(row),
  value: row.after,
  position: row.position,
  set_at: row.changedAt,
  set_by: { id: userIdOf(row.actor) ?? 0, name: row.username },
})

function nameOf({ model, group, userGroup }: PriceChange): string {
  if (model !== '') return model
  return userGroup === '' ? group : `${userGroup} > ${group}`
}

function builtInEntries(model: string, group: string, tools: readonly string[]): PriceInForce[] {
  const entries: PriceInForce[] = []
  const add = (option: string, name: string, value: string | undefined): void => {
    if (value === undefined) return
    entries.push({ option, name, value, position: null, set_at: null, set_by: null })
  }
  for (const [option, ratios] of DEFAULT_RATIOS) {
    for (const name of [model, ...tools]) add(option, name, ratios.get(name))
  }
  add('GroupRatio', group, DEFAULT_GROUP_RATIOS.get(group))
  return entries
}
