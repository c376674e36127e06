import type { Pool } from 'pg'
import { sql } from 'slonik'
import type { Sealed } from '#domain/shared/event.ts'
import { type LogFilter, type LogRow, matching, named } from './rows.ts'

/**
 * As `logRows`, for reading thousands: the same statement over bare pg, its cells read as text and
 * put together here. Checking each of them would take longer than all the rest.
 */
export async function logBatch(
  pg: Pool,
  filter: LogFilter,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<readonly LogRow[]> {
  const statement = named(
    sql.fragment`
      select * from read_call_log.log where ${matching(filter)} and id < ${before}
      order by id desc limit ${limit}`,
    sql.fragment`desc`,
  )
  const { rows } = await pg.query<(string | null)[], unknown[]>({
    text: statement.sql.replaceAll('$slonik_', '$'),
    values: [...statement.values],
    rowMode: 'array',
    types: { getTypeParser: () => (text: string) => text },
  })
  return rows.map(rowOf)
}

const sealedOf = (text: string | null | undefined) => (text ?? null) as Sealed | null

/** NOTE: in the order of `named`. */
const rowOf = (cells: readonly (string | null)[]): LogRow => {
  const text = (index: number): string => cells[index] ?? ''
  return {
    id: Number(cells[0]),
    createdAt: Number(cells[1]),
    type: Number(cells[2]),
    userId: Number(cells[3]),
    username: text(4),
    showsIp: cells[5] === 't',
    tokenName: text(6),
    channelId: Number(cells[7]),
    channelName: text(8),
    model: text(9),
    group: text(10),
    requestId: text(11),
    isStream: cells[12] === 't',
    promptTokens: Number(cells[13]),
    completionTokens: Number(cells[14]),
    quota: BigInt(text(15)),
    durationMs: Number(cells[16]),
    reason: text(17),
    clientIp: sealedOf(cells[18]),
    other: text(19),
    adminOther: text(20),
    actorId: Number(cells[21]),
    actorName: text(22),
    note: sealedOf(cells[23]),
  }
}
