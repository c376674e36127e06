import type { Pool } from 'pg'
import { sql } from 'slonik'
import type { Sealed } from '#domain/shared/event.ts'
import { PLAYGROUND_NAME } from '#domain/shared/playground-token-id.ts'
import type { Core } from '#infra/core-dependencies.ts'
import {
  accessOf,
  columnList,
  LOG_COLUMNS,
  type LogColumn,
  type LogFilter,
  type LogRow,
  logOf,
  matching,
} from './select-log-rows.ts'

type Cells = readonly (string | null)[]

/** The encrypted columns. They are the last columns of the log. */
const SEALED_COLUMNS: readonly string[] = ['client_ip', 'note'] satisfies LogColumn[]

const AT = Object.fromEntries(LOG_COLUMNS.map((name, index) => [name, index])) as Readonly<
  Record<LogColumn, number>
>

/** Reads log rows with ids below `before`, newest first. */
type ReadLogBatch = (before: number, limit: number) => Promise<readonly LogRow[]>

type Names = {
  /** Reads the names of the ids that are not cached yet, and caches them. */
  readonly learn: (ids: Iterable<number>) => Promise<void>
  readonly of: (id: number) => readonly string[]
}

/** The cache is cleared when it exceeds this number of names. */
const NAMES_MAX = 50_000
const NAMELESS: readonly string[] = []

/**
 * Returns a function that reads the same rows as `logRows` in batches, but faster. The function
 * looks up names separately and caches them, instead of joining tables. It does not check the cells
 * against a schema, because this check would take most of the time. Encrypted texts are read only
 * if `withSealed` is true.
 */
export function logBatches(
  { pg, db }: Pick<Core, 'pg' | 'db'>,
  filter: LogFilter,
  { withSealed }: { readonly withSealed: boolean },
): ReadLogBatch {
  const users = namesOf(pg, 'select id, username, shows_ip from read_users.users')
  const tokens = namesOf(pg, 'select id, name from read_tokens.tokens')
  const channels = namesOf(pg, 'select id, name from read_channels.channels')
  const columns = columnList(
    LOG_COLUMNS.filter((name) => withSealed || !SEALED_COLUMNS.includes(name)),
  )
  let log: ReturnType<typeof logOf> | null = null
  return async (before, limit) => {
    log ??= logOf(filter, await accessOf(db, filter))
    const statement = sql.fragment`
      select ${columns} from ${log} where ${matching(filter)} and id < ${before}
      order by id desc limit ${limit}`
    const cells = await cellsOf(pg, statement.sql.replaceAll('$slonik_', '$'), [
      ...statement.values,
    ])
    const rows = cells.map(readRow)
    await Promise.all([
      users.learn(rows.flatMap(({ row }) => [row.userId, row.actorId])),
      tokens.learn(rows.map(({ tokenId }) => tokenId)),
      channels.learn(rows.map(({ row }) => row.channelId)),
    ])
    return rows.map((one) => withNames(one, { users, tokens, channels }))
  }
}

const cellsOf = async (pg: Pool, text: string, values: unknown[]): Promise<Cells[]> => {
  const types = { getTypeParser: () => (cell: string) => cell }
  return (await pg.query<(string | null)[]>({ text, values, rowMode: 'array', types })).rows
}

function namesOf(pg: Pool, select: string): Names {
  const namesById = new Map<number, readonly string[]>()
  return {
    of: (id) => namesById.get(id) ?? NAMELESS,
    learn: async (ids) => {
      if (namesById.size > NAMES_MAX) namesById.clear()
      const unknown = new Set<number>()
      for (const id of ids) if (!namesById.has(id)) unknown.add(id)
      if (unknown.size === 0) return
      for (const id of unknown) namesById.set(id, NAMELESS)
      const rows = await cellsOf(pg, `${select} where id = any($1::int8[])`, [[...unknown]])
      for (const [id, ...names] of rows) namesById.set(Number(id), names.map(String))
    },
  }
}

const sealedOf = (text: string | null | undefined) => (text ?? null) as Sealed | null

/** Converts a Postgres array of numbers, such as `{1,2}`, to JSON. */
const jsonArrayOf = (text: string | null | undefined) =>
  text == null ? null : `[${text.slice(1, -1)}]`

type RowWithoutNames = { readonly row: LogRow; readonly tokenId: number }

/**
 * Converts cells to a row. Names stay empty, because they are looked up later. NOTE: a loop over
 * the fields would take ten times as long.
 */
function readRow(cells: Cells): RowWithoutNames {
  const text = (index: number): string => cells[index] ?? ''
  const row = {
    id: Number(cells[AT.id]),
    createdAt: Number(cells[AT.created_at]),
    type: Number(cells[AT.type]) as LogRow['type'],
    userId: Number(cells[AT.user_id]),
    username: '',
    showsIp: false,
    tokenName: '',
    channelId: Number(cells[AT.channel_id]),
    channelName: '',
    actorId: Number(cells[AT.actor_id]),
    actorName: '',
    model: text(AT.model),
    group: text(AT.call_group),
    requestId: text(AT.request_id),
    isStream: cells[AT.is_stream] === 't',
    promptTokens: Number(cells[AT.prompt_tokens]),
    completionTokens: Number(cells[AT.completion_tokens]),
    quota: BigInt(text(AT.quota)),
    durationMs: Number(cells[AT.duration_ms]),
    reason: text(AT.reason),
    other: text(AT.other),
    adminOther: text(AT.admin_other),
    failedChannels: jsonArrayOf(cells[AT.failed_channels]),
    clientIp: sealedOf(cells[AT.client_ip]),
    note: sealedOf(cells[AT.note]),
  }
  return { row, tokenId: Number(cells[AT.token_id]) }
}

type NameLookups = Readonly<Record<'users' | 'tokens' | 'channels', Names>>

function withNames(
  { row, tokenId }: RowWithoutNames,
  { users, tokens, channels }: NameLookups,
): LogRow {
  const [username = '', showsIp] = users.of(row.userId)
  const [tokenName = tokenId < 0 ? PLAYGROUND_NAME : ''] = tokens.of(tokenId)
  return Object.assign(row, {
    username,
    showsIp: showsIp === 't',
    tokenName,
    channelName: channels.of(row.channelId)[0] ?? '',
    actorName: users.of(row.actorId)[0] ?? '',
  })
}
