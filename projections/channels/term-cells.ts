import type { ChannelTerms } from '#domain/channel/events.ts'
import type { Cells } from '../runner/row-changes.ts'

/** Terms as the table keeps them: what is asked or changed by itself apart from the rest. */
export function termCells(terms: ChannelTerms): Cells {
  const { name, tag, models, groups, modelMapping, priority, weight, expiredTime, ...rest } = terms
  return {
    terms: rest,
    name,
    tag,
    models,
    groups,
    model_mapping: modelMapping,
    priority,
    weight,
    expired_at: expiredTime,
  }
}
