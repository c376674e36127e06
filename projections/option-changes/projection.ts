import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS_VERSIONS, type OptionsEvent, upcastOption } from '#domain/options/events.ts'
import { plannedIdOf } from '../planned-id.ts'
import { projectionOf } from '../projection.ts'

/** The value that replaces a secret while it is set. */
const SET = '***'

/**
 * The changes of options: who, when, and the values before and after. Of secrets it records only
 * whether one was set.
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
      rows.insert('option_changes', { id: position }, { ...cells, planned_id: plannedIdOf(meta) })
    },
    SecretOptionSet: (event, rows) => {
      const { data, position, meta } = upcastOption(event)
      const before = data.before === null ? null : shown(data.before)
      const after = shown(data.secretRef)
      const cells = { key: data.key, before, after, actor: meta.actor, at: meta.at }
      rows.insert('option_changes', { id: position }, cells)
    },
  },
})

const shown = (secretRef: string): string => (secretRef === '' ? '' : SET)
