import type { Pool } from 'pg'
import { sql } from 'slonik'
import type { Sealed } from '#domain/shared/event.ts'
import { PLAYGROUND_NAME } from '#domain/shared/playground-token-id.ts'
import { type LogFilter, type LogRow, logOf, matching } from './select-log-rows.ts'

type Cells = readonly (string | null)[]

/** A function that reads log rows with ids below `before`, newest first. */
type ReadLogBatch = (before: number, limit: number) => Promise<readonly LogRow[]>

type Names = {
  /**
   * Reads the names for the given ids and caches them. Ids whose names are already cached are
   * skipped.
   */
  readonly learn: (ids: Iterable<number>) => Promise<void>
  readonly of: (id: number) => readonly string[]
}

/** The maximum number of cached names. The cache is cleared when it exceeds this size. */
const NAMES_MAX = 50_000
const NAMELESS: readonly string[] = []

/**
 * Returns a function that reads the same log rows as `logRows`, but batch by batch and faster. Each
 * name is looked up once instead of being joined to every batch. Cells are read as text and are not
 * checked against a schema, because the check would take most of the time. Encrypted texts are read
 * only if `withSealed` is true.
 */
export function logBatches(
  pg: Pool,
  filter: LogFilter,
  { withSealed }: { readonly withSealed: boolean },
): ReadLogBatch {
  const users = namesOf(pg, 'select id, username, shows_ip from read_users.users')
  const tokens = namesOf(pg, 'select id, name from read_tokens.tokens')
  const channels = namesOf(pg, 'select id, name from read_channels.channels')
  const sealed = withSealed ? sql.fragment`client_ip, note` : sql.fragment`null, null`
  return async (before, limit) => {
    const statement = sql.fragment`
      select id, created_at, type, user_id, token_id, channel_id, actor_id, model, call_group,
        request_id, is_stream, prompt_tokens, completion_tokens, quota, duration_ms, reason, other,
        admin_other, array_to_json(failed_channels), ${sealed}
      from ${logOf(filter)} where ${matching(filter)} and id < ${before}
      order by id desc limit ${limit}`
    const cells = await cellsOf(pg, statement.sql.replaceAll('$slonik_', '$'), [
      ...statement.values,
    ])
    const rows = cells.map(namelessOf)
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
  const known = new Map<number, readonly string[]>()
  return {
    of: (id) => known.get(id) ?? NAMELESS,
    learn: async (ids) => {
      if (known.size > NAMES_MAX) known.clear()
      const unknown = new Set<number>()
      for (const id of ids) if (!known.has(id)) unknown.add(id)
      if (unknown.size === 0) return
      for (const id of unknown) known.set(id, NAMELESS)
      const found = await cellsOf(pg, `${select} where id = any($1::int8[])`, [[...unknown]])
      for (const [id, ...names] of found) known.set(Number(id), names.map(String))
    },
  }
}

const sealedOf = (text: string | null | undefined) => (text ?? null) as Sealed | null

type Nameless = { readonly row: LogRow; readonly tokenId: number }

/** NOTE: the order of the cells must match the order of the columns in the select statement. */
function namelessOf(cells: Cells): Nameless {
  const text = (index: number): string => cells[index] ?? ''
  const row = {
    id: Number(cells[0]),
    createdAt: Number(cells[1]),
    type: Number(cells[2]),
    userId: Number(cells[3]),
    username: '',
    showsIp: false,
    tokenName: '',
    channelId: Number(cells[5]),
    channelName: '',
    actorId: Number(cells[6]),
    actorName: '',
    model: text(7),
    group: text(8),
    requestId: text(9),
    isStream: cells[10] === 't',
    promptTokens: Number(cells[11]),
    completionTokens: Number(cells[12]),
    quota: BigInt(text(13)),
    durationMs: Number(cells[14]),
    reason: text(15),
    other: text(16),
    adminOther: text(17),
    failedChannels: cells[18] ?? null,
    clientIp: sealedOf(cells[19]),
    note: sealedOf(cells[20]),
  }
  return { row, tokenId: Number(cells[4]) }
}

type Known = Readonly<Record<'users' | 'tokens' | 'channels', Names>>

function withNames({ row, tokenId }: Nameless, { users, tokens, channels }: Known): LogRow {
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
