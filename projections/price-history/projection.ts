import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS_VERSIONS, type OptionSet, upcastOption } from '#domain/options/events.ts'
import { entryChanges, pairOf } from '#domain/pricing/compare-price-options.ts'
import { scheduledChangeIdOf } from '../find-id-of-scheduled-price-change.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/** Each change of a price, with the values before and after, the author and the time. */
export const priceHistory = projectionOf<OptionSet>({
  name: 'price-history',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { changes: { key: ['position', 'place'] } },
  newest: OPTIONS_VERSIONS,
  handlers: {
    OptionSet: (event, rows) => {
      const { data, meta, position } = upcastOption(event)
      const { key: option, before: text, value } = data
      const changes = entryChanges(option, text ?? '', value)
      for (const [place, [name, before, after]] of changes.entries()) {
        rows.insert(
          'changes',
          { position, place },
          {
            changed_at: secondsOf(meta.at),
            actor: meta.actor,
            planned_id: scheduledChangeIdOf(meta),
            option_key: option,
            ...subjectOf(option, name),
            before_value: before,
            after_value: after,
          },
        )
      }
    },
  },
})

/**
 * Returns what a price applies to: a model, a group, or calls in `group_name` by users of
 * `user_group`. All members are empty for a fallback price.
 */
function subjectOf(option: string, name: string) {
  if (option === 'GroupRatio') return { model: '', group_name: name, user_group: '' }
  if (option !== 'GroupGroupRatio') return { model: name, group_name: '', user_group: '' }
  const [user_group = '', group_name = ''] = pairOf(name) ?? []
  return { model: '', group_name, user_group }
}
