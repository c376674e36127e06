import { isIPv4 } from 'node:net'
import { toWire } from '#domain/shared/quota.ts'
import type { Language } from '#infra/http/language.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { LogRow } from '#projections/call-log/query.ts'
import type { LogEntry } from '../contract/log.ts'
import { wordsOf } from './log-words.ts'

export type Viewer = { readonly isAdmin: boolean; readonly language: Language }

/** A row with what is sealed opened; what is left to do depends on who looks at it. */
export type OpenedRow = LogRow & { readonly address: string; readonly noteText: string | null }

/** NOTE: in place; a copy of each of millions would be most of the work. */
export const openRows = (vault: Vault, rows: readonly LogRow[]): Promise<OpenedRow[]> =>
  Promise.all(
    rows.map(async (row) => {
      const { userId, clientIp, note } = row
      const ip = clientIp === null ? '' : ((await vault.open(userId, clientIp)) ?? '')
      const noteText = note === null ? null : ((await vault.open(userId, note)) ?? '')
      return Object.assign(row, { address: row.showsIp ? ip : networkOf(ip), noteText })
    }),
  )

/** A row as this viewer may see it, `other` last: the same for REST and the live socket. */
export const logAnswer = (row: OpenedRow, { isAdmin, language }: Viewer): LogEntry => ({
  id: row.id,
  created_at: row.createdAt,
  type: row.type,
  request_id: row.requestId,
  channel: isAdmin ? row.channelId : 0,
  channel_name: isAdmin ? row.channelName : '',
  username: row.username,
  user_id: row.userId,
  token_name: row.tokenName,
  group: row.group,
  model_name: row.model,
  // Of a call whose relay died only when it was swept up is known: that is no duration.
  use_time: row.reason === 'interrupted' ? 0 : Math.round(row.durationMs / 1_000),
  is_stream: row.isStream,
  prompt_tokens: row.promptTokens,
  completion_tokens: row.completionTokens,
  quota: toWire(row.quota),
  content: wordsOf(row, language),
  client_ip: row.address,
  other: isAdmin ? otherForAdmin(row) : row.other,
})

function otherForAdmin({ other, adminOther, actorId: id, actorName, noteText }: OpenedRow): string {
  const text = joined(other, adminOther)
  if (id === 0) return text
  const changed = { changed_by: { id, username: actorName }, note: noteText }
  return joined(text, JSON.stringify(changed))
}

/** Two JSON objects without a member in common as one, without reading them. */
const joined = (a: string, b: string): string => {
  if (b === '{}') return a
  return a === '{}' ? b : `${a.slice(0, -1)},${b.slice(1)}`
}

/** Whom an address belongs to is nobody's business unless its user wants it shown. */
function networkOf(ip: string): string {
  if (ip === '') return ''
  if (isIPv4(ip)) return ip.replace(/\.\d+$/, '.x')
  return `${ip.split(':').slice(0, 3).join(':')}::x`
}
