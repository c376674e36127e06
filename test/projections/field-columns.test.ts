import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LOG_FIELD_COLUMNS } from '#projections/logs/select-log-rows.ts'
import { PRICE_CHANGE_COLUMNS } from '#projections/price-history/query.ts'
import { columnsOf } from '#projections/resource-field-columns.ts'
import { TOKEN_COLUMNS } from '#projections/tokens/query.ts'
import { CENTS, ORDER_COLUMNS } from '#projections/top-ups/query.ts'
import { SETTING_COLUMNS, USER_COLUMNS } from '#projections/users/query.ts'
import { LOG_FIELDS } from '#read-api/contract/logs.ts'
import {
  INBOX_FIELDS,
  MESSAGE_FIELDS,
  MESSAGE_STATS_FIELDS,
  RECIPIENT_FIELDS,
  SENT_FIELDS,
} from '#read-api/contract/message-fields.ts'
import {
  OPTION_CHANGE_FIELDS,
  PRICE_CHANGE_FIELDS,
  SCHEDULED_CHANGE_FIELDS,
} from '#read-api/contract/options.ts'
import { REDEMPTION_FIELDS } from '#read-api/contract/redemption-fields.ts'
import type { Fields } from '#read-api/contract/resource-field-definition.ts'
import { DRAWING_FIELDS, MUSIC_FIELDS } from '#read-api/contract/tasks.ts'
import { TOKEN_FIELDS } from '#read-api/contract/token-fields.ts'
import {
  ORDER_FIELDS,
  REFUND_FIELDS,
  REPORT_FIELDS,
  RESTORATION_FIELDS,
} from '#read-api/contract/top-ups.ts'
import { USER_FIELDS, USER_SETTING_FIELDS } from '#read-api/contract/user-fields.ts'
import { sourceFiles } from '../architecture/source-tree.ts'

type Place = {
  readonly fields: Fields
  /** The folder of the projection, and the table in its `table.sql`. */
  readonly table: `${string}/${string}`
  readonly names?: Readonly<Record<string, string>>
  /** The columns that the query computes or reads from another table. */
  readonly joined?: readonly string[]
}

const TASK_NAMES = ['username', 'channel_name']

/** The table in which each set of fields is stored, by the name of its constant. */
const PLACES: Readonly<Record<string, Place>> = {
  TOKEN_FIELDS: { fields: TOKEN_FIELDS, table: 'tokens/tokens', names: TOKEN_COLUMNS },
  USER_FIELDS: { fields: USER_FIELDS, table: 'users/users', names: USER_COLUMNS },
  USER_SETTING_FIELDS: {
    fields: USER_SETTING_FIELDS,
    table: 'users/users',
    names: SETTING_COLUMNS,
  },
  REDEMPTION_FIELDS: {
    fields: REDEMPTION_FIELDS,
    table: 'redemptions/redemptions',
    joined: ['status', 'used_username'],
  },
  ORDER_FIELDS: {
    fields: ORDER_FIELDS,
    table: 'top-ups/orders',
    names: ORDER_COLUMNS,
    joined: ['username', 'state', 'refundable_cents'],
  },
  REFUND_FIELDS: {
    fields: REFUND_FIELDS,
    table: 'top-ups/refunds',
    names: CENTS,
    joined: ['actor_name'],
  },
  RESTORATION_FIELDS: { fields: RESTORATION_FIELDS, table: 'top-ups/restorations', names: CENTS },
  REPORT_FIELDS: { fields: REPORT_FIELDS, table: 'top-ups/reports', names: CENTS },
  MESSAGE_FIELDS: { fields: MESSAGE_FIELDS, table: 'messages/messages' },
  SENT_FIELDS: { fields: SENT_FIELDS, table: 'messages/messages' },
  MESSAGE_STATS_FIELDS: {
    fields: MESSAGE_STATS_FIELDS,
    table: 'messages/messages',
    joined: ['readers'],
  },
  INBOX_FIELDS: { fields: INBOX_FIELDS, table: 'messages/messages', joined: ['read_at'] },
  RECIPIENT_FIELDS: {
    fields: RECIPIENT_FIELDS,
    table: 'messages/reads',
    joined: ['username', 'display_name'],
  },
  DRAWING_FIELDS: { fields: DRAWING_FIELDS, table: 'tasks/tasks', joined: TASK_NAMES },
  MUSIC_FIELDS: { fields: MUSIC_FIELDS, table: 'tasks/tasks', joined: TASK_NAMES },
  LOG_FIELDS: {
    fields: LOG_FIELDS,
    table: 'logs/log',
    names: LOG_FIELD_COLUMNS,
    joined: ['username', 'token_name', 'channel_name'],
  },
  OPTION_CHANGE_FIELDS: { fields: OPTION_CHANGE_FIELDS, table: 'option-changes/option_changes' },
  PRICE_CHANGE_FIELDS: {
    fields: PRICE_CHANGE_FIELDS,
    table: 'price-history/changes',
    names: PRICE_CHANGE_COLUMNS,
  },
  SCHEDULED_CHANGE_FIELDS: { fields: SCHEDULED_CHANGE_FIELDS, table: 'price-schedule/planned' },
}

/** The fields that a table stores as one JSON column. */
const JSON_FIELDS = ['RATE_LIMIT_FIELDS']

/** Returns the columns of a table, in a `table.sql` with one column per line. */
function columnsIn(sql: string, table: string): readonly string[] {
  const [, body = ''] = new RegExp(`create table ${table} \\(\\n(.*?)\\n\\)`, 's').exec(sql) ?? []
  return [...body.matchAll(/^ {2}([a-z_]+) (?!key)/gm)].map(([, column = '']) => column)
}

/** Returns the sets of fields that the projections import. */
const importedFields = (): ReadonlySet<string> =>
  new Set(
    sourceFiles()
      .filter(({ path }) => path.startsWith('projections/'))
      .flatMap(({ text }) => text.match(/^import \{[^}]*\} from '#read-api/gm) ?? [])
      .flatMap((line) => line.match(/\b[A-Z_]+_FIELDS\b/g) ?? []),
  )

describe('a field of a resource', () => {
  it.each(Object.entries(PLACES))('has a column in the read model: %s', (_name, place) => {
    const { fields, table, names, joined = [] } = place
    const [folder = '', tableName = ''] = table.split('/')
    const file = new URL(`../../projections/${folder}/table.sql`, import.meta.url)
    const columns = columnsIn(readFileSync(file, 'utf8'), tableName)
    expect(columns).not.toEqual([])
    const missing = columnsOf(fields, names)
      .filter(([, column]) => !columns.includes(column) && !joined.includes(column))
      .map(([field, column]) => `${field}: add ${column} to projections/${folder}/table.sql`)
    expect(missing).toEqual([])
  })

  it('is checked here if a projection uses it', () => {
    expect([...importedFields()].sort()).toEqual([...Object.keys(PLACES), ...JSON_FIELDS].sort())
  })
})
