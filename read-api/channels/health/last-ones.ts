import type { ChannelRow } from '#projections/channels/query.ts'

type Offering = Pick<ChannelRow, 'id' | 'keyRefs' | 'terms'>

/** Of the enabled channels, those that are the only one to offer some model to some group. */
export function lastOnesOf(rows: readonly Offering[]): ReadonlySet<number> {
  const offers = new Map<string, Map<string, number | null>>()
  for (const { id, keyRefs, terms } of rows) {
    if (keyRefs.length === 0) continue
    for (const group of terms.groups) {
      const models = offers.get(group) ?? new Map<string, number | null>()
      offers.set(group, models)
      for (const name of terms.models) {
        const model = terms.modelPrefix + name
        const other = models.get(model)
        models.set(model, other === undefined || other === id ? id : null)
      }
    }
  }
  const ids = [...offers.values()].flatMap((models) => [...models.values()])
  return new Set(ids.filter((id) => id !== null))
}
