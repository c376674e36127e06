import type { Pool } from 'pg'
import { sql } from 'slonik'
import type { Sealed } from '#domain/shared/event.ts'
import { PLAYGROUND_NAME } from '#domain/shared/playground.ts'
import { type LogFilter, type LogRow, matching } from './rows.ts'

type Cells = readonly (string | null)[]

/** Rows below `before` (a row's id), newest first. */
export type ReadLogBatch = (before: number, limit: number) => Promise<readonly LogRow[]>

type Names = {
  /** Of those whom the cells at `places` name, what is not known yet. */
  readonly learn: (rows: readonly Cells[]) => Promise<void>
  readonly of: (id: string | null | undefined) => readonly string[]
}

/** More than that many names are not remembered. */
const NAMES_MAX = 50_000
const NAMELESS: readonly string[] = []

/**
 * As `logRows`, for reading all rows batch by batch: over bare pg, cells read as text and put
 * together here (checking each of them would take longer than all the rest), names asked for once
 * and not joined to every batch. Without `withSealed`, what is sealed is left out.
 */
export function logBatches(
  pg: Pool,
  filter: LogFilter,
  { withSealed }: { readonly withSealed: boolean },
): ReadLogBatch {
  const users = namesOf(pg, 'select id, username, shows_ip from read_users.users', [USER, ACTOR])
  const tokens = namesOf(pg, 'select id, name from read_tokens.tokens', [TOKEN])
  const channels = namesOf(pg, 'select id, name from read_channels.channels', [CHANNEL])
  const sealed = withSealed ? sql.fragment`client_ip, note` : sql.fragment`null, null`
  return async (before, limit) => {
    const statement = sql.fragment`
      select id, created_at, type, user_id, token_id, channel_id, actor_id, model, call_group,
        request_id, is_stream, prompt_tokens, completion_tokens, quota, duration_ms, reason, other,
        admin_other, ${sealed}
      from read_call_log.log where ${matching(filter)} and id < ${before}
      order by id desc limit ${limit}`
    const rows = await cellsOf(pg, statement.sql.replaceAll('$slonik_', '$'), [...statement.values])
    await Promise.all([users, tokens, channels].map((names) => names.learn(rows)))
    return rows.map((cells) => rowOf(cells, { users, tokens, channels }))
  }
}

// NOTE: in the order of the statement.
const [USER, TOKEN, CHANNEL, ACTOR] = [3, 4, 5, 6]

const cellsOf = async (pg: Pool, text: string, values: unknown[]): Promise<Cells[]> => {
  const types = { getTypeParser: () => (cell: string) => cell }
  return (await pg.query<(string | null)[]>({ text, values, rowMode: 'array', types })).rows
}

function namesOf(pg: Pool, select: string, places: readonly number[]): Names {
  const known = new Map<string, readonly string[]>()
  return {
    of: (id) => known.get(id ?? '') ?? NAMELESS,
    learn: async (rows) => {
      if (known.size > NAMES_MAX) known.clear()
      const unknown = new Set<string>()
      for (const cells of rows) {
        for (const place of places) {
          const id = cells[place] ?? ''
          if (!known.has(id)) unknown.add(id)
        }
      }
      if (unknown.size === 0) return
      for (const id of unknown) known.set(id, NAMELESS)
      for (const [id, ...names] of await cellsOf(pg, `${select} where id = any($1::int8[])`, [
        [...unknown],
      ])) {
        known.set(id ?? '', names.map(String))
      }
    },
  }
}

const sealedOf = (text: string | null | undefined) => (text ?? null) as Sealed | null

type Known = Readonly<Record<'users' | 'tokens' | 'channels', Names>>

const rowOf = (cells: Cells, { users, tokens, channels }: Known): LogRow => {
  const text = (index: number): string => cells[index] ?? ''
  const [username = '', showsIp] = users.of(cells[USER])
  const tokenId = text(TOKEN)
  const [tokenName = tokenId.startsWith('-') ? PLAYGROUND_NAME : ''] = tokens.of(tokenId)
  return {
    id: Number(cells[0]),
    createdAt: Number(cells[1]),
    type: Number(cells[2]),
    userId: Number(cells[USER]),
    username,
    showsIp: showsIp === 't',
    tokenName,
    channelId: Number(cells[CHANNEL]),
    channelName: channels.of(cells[CHANNEL])[0] ?? '',
    actorId: Number(cells[ACTOR]),
    actorName: users.of(cells[ACTOR])[0] ?? '',
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
    clientIp: sealedOf(cells[18]),
    note: sealedOf(cells[19]),
  }
}
