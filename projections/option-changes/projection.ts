import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS_VERSIONS, type OptionsEvent, upcastOption } from '#domain/options/events.ts'
import { scheduledChangeIdOf } from '../find-id-of-scheduled-price-change.ts'
import { projectionOf } from '../projection.ts'

/**
 * The text that is recorded instead of the value of a secret option. A cleared secret is recorded
 * as an empty text.
 */
const SET = '***'

/**
 * The changes of options: the author, the time, and the values before and after. For a secret
 * option, the values show only whether the secret was set.
 */
export const optionChanges = projectionOf<OptionsEvent>({
  name: 'option-changes',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { option_changes: { key: ['id'] } },
  newest: OPTIONS_VERSIONS,
  handlers: {
    OptionSet: (event, rows) => {
      const { data, position, meta } = upcastOption(event)
      const { key, before, value } = data
      const cells = { key, before, after: value, actor: meta.actor, at: meta.at }
      rows.insert(
        'option_changes',
        { id: position },
        { ...cells, planned_id: scheduledChangeIdOf(meta) },
      )
    },
    SecretOptionSet: (event, rows) => {
      const { data, position, meta } = upcastOption(event)
      const before = data.before === null ? null : shownSecret(data.before)
      const after = shownSecret(data.secretRef)
      const cells = { key: data.key, before, after, actor: meta.actor, at: meta.at }
      rows.insert('option_changes', { id: position }, cells)
    },
  },
})

const shownSecret = (secretRef: string): string => (secretRef === '' ? '' : SET)
