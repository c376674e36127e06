import { sql } from 'slonik'
import { containing } from '../like.ts'
import { isOn, shownStatus } from './channel-row.ts'

export type ChannelFilter = {
  /** An id, or part of the name, the address or the tag; empty for all, as the others. */
  readonly keyword: string
  readonly group: string
  /** Part of a model's name. */
  readonly model: string
  /** As shown; 0: whatever is not enabled. null for all. */
  readonly status: number | null
  readonly type: number | null
  /** Exactly; empty for all. */
  readonly tag: string
  /** Unix seconds: what is expired by then is off. */
  readonly now: number
}

/** Which `channels c` a search is about. */
export const matching = ({ keyword, group, model, status, type, tag, now }: ChannelFilter) =>
  sql.fragment`
    not c.is_deleted
    and (${keyword} = '' or c.id::text = ${keyword} or c.name ilike ${containing(keyword)}
      or c.terms->>'baseUrl' ilike ${containing(keyword)}
      or c.tag ilike ${containing(keyword)})
    and (${group} = '' or c.groups @> to_jsonb(${group}::text))
    and (${model} = '' or c.models::text ilike ${containing(model)})
    and (${tag} = '' or c.tag = ${tag})
    and (${type === null} or (c.terms->>'type')::int8 = ${type ?? 0})
    and (${status === null} or (${status === 0} and not ${isOn(now)})
      or ${shownStatus(now)} = ${status ?? 0})
  `
