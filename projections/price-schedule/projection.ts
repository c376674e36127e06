import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScheduleEvent } from '#domain/options/events.ts'
import type { FactMeta } from '#domain/shared/event.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/** The scheduled price changes. Each change is pending, applied, cancelled or failed. */
export const priceSchedule = projectionOf<ScheduleEvent>({
  name: 'price-schedule',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { planned: { key: ['id'] } },
  handlers: {
    PriceChangeScheduled: ({ data: { id, at, changes }, meta }, rows) =>
      rows.insert(
        'planned',
        { id },
        { due_at: secondsOf(at), made_at: secondsOf(meta.at), actor: meta.actor, changes },
      ),
    PriceChangeCancelled: ({ data, meta }, rows) =>
      rows.patch('planned', { id: data.id }, ended('cancelled', meta)),
    PriceChangeApplied: ({ data, meta }, rows) =>
      rows.patch('planned', { id: data.id }, ended('applied', meta)),
    PriceChangeFailed: ({ data: { id, option, fault }, meta }, rows) =>
      rows.patch('planned', { id }, { ...ended('failed', meta), fault: `${option}: ${fault}` }),
  },
})

const ended = (status: string, { at, actor }: FactMeta) => ({
  status,
  ended_at: secondsOf(at),
  ended_by: actor,
})
