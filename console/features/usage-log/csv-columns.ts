import { stampText } from '#console/ui/time-text.ts'
import type { LogEntry } from '#read-api/contract/log.ts'
import type { CsvCell } from './csv.ts'
import { otherOf } from './log-other.ts'

export type CsvColumn = { readonly title: string; readonly cell: (row: LogEntry) => CsvCell }

/**
 * The columns of an export, by names that stay the same in every language. `dollars` writes an
 * exact amount; `zone` is named in the header of the times that are written in it.
 */
export function csvColumns(parts: {
  isAdmin: boolean
  zone: string
  dollars: (quota: bigint) => string
}): readonly CsvColumn[] {
  const column = (title: string, cell: (row: LogEntry) => CsvCell): CsvColumn => ({ title, cell })
  const forAdmins = [
    column('channel', (row) => row.channel),
    column('channel_name', (row) => row.channel_name),
    column('user_id', (row) => row.user_id),
    column('username', (row) => row.username),
  ]
  return [
    column('id', (row) => row.id),
    column(`time (${parts.zone})`, (row) => stampText(row.created_at, parts.zone)),
    column('unix_time', (row) => row.created_at),
    column('type', (row) => row.type),
    ...(parts.isAdmin ? forAdmins : []),
    column('token', (row) => row.token_name),
    column('group', (row) => row.group),
    column('model', (row) => row.model_name),
    column('stream', (row) => (row.is_stream ? 1 : 0)),
    column('duration_ms', (row) => otherOf(row).duration_ms ?? row.use_time * 1000),
    column('first_token_ms', (row) => otherOf(row).frt ?? null),
    column('prompt_tokens', (row) => row.prompt_tokens),
    column('completion_tokens', (row) => row.completion_tokens),
    column('quota', (row) => row.quota),
    column('cost_usd', (row) => parts.dollars(BigInt(row.quota))),
    column('end', (row) => otherOf(row).end ?? ''),
    column('error', (row) => otherOf(row).error_code ?? ''),
    column('request_id', (row) => row.request_id),
    column('content', (row) => row.content),
  ]
}
