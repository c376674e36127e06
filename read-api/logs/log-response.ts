import { isIPv4 } from 'node:net'
import { toWire } from '#domain/shared/quota.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { Language } from '#infra/http/request-language.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { LogRow } from '#projections/logs/query.ts'
import type { LogEntry, LoggedCorrection } from '../contract/logs.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'

/** The text that the log shows for each reason code of a row. */
const REASON_TEXTS: Readonly<Record<string, TranslatedText>> = {
  settled: { zh: '', en: '' },
  interrupted: {
    zh: '调用中断，只按中断前已记录的用量结算',
    en: 'Interrupted; charged for the usage recorded until then',
  },
  site: { zh: '系统初始化完成', en: 'The system was initialised' },
  'grant:setup': { zh: '系统初始化额度', en: 'Initial quota' },
  'grant:new-user': { zh: '新用户注册赠送额度', en: 'Quota for a new user' },
  'grant:invited': { zh: '使用邀请码赠送额度', en: 'Quota for an invited user' },
  'grant:redemption': { zh: '通过兑换码充值', en: 'Topped up with a redemption code' },
  'check-in': { zh: '每日签到', en: 'Daily check-in' },
  affiliate: { zh: '邀请额度划转', en: 'Transferred from invitations' },
  'top-up': { zh: '在线充值', en: 'Topped up online' },
  'top-up-refund': { zh: '充值退款', en: 'A top-up was refunded' },
  'top-up-restored': { zh: '退款撤销，额度已恢复', en: 'A refund was reversed, quota restored' },
  'grant:admin': { zh: '管理员增加额度', en: 'Quota added by an administrator' },
  'deduct:admin': { zh: '管理员减少额度', en: 'Quota deducted by an administrator' },
  correction: { zh: '价格更正，重新计费', en: 'Charges were corrected to another price' },
  group: { zh: '管理员修改分组', en: 'Group changed by an administrator' },
  'released:no-channel': { zh: '无可用渠道', en: 'No available channel' },
  'released:not-sent': { zh: '请求未发送到上游', en: 'Not sent to a provider' },
  'released:refused': { zh: '请求被上游拒绝', en: 'Rejected by the provider' },
  'released:client-gone': { zh: '客户端已断开', en: 'The client disconnected' },
  'released:upstream-error': { zh: '上游返回错误', en: 'The provider returned an error' },
  'released:unreached': { zh: '无法连接上游', en: 'The provider could not be reached' },
  'released:timeout': { zh: '上游响应超时', en: 'The provider did not answer in time' },
  'released:incomplete': { zh: '上游响应不完整', en: "The provider's response was incomplete" },
  'released:screened': { zh: '回答命中屏蔽词，已被拦下', en: 'Withheld by the word filter' },
  'released:revoked': { zh: '访问权限已被撤销', en: 'Access was revoked' },
  'released:balance-spent': { zh: '余额已用尽', en: 'The balance was used up' },
  'released:over-limit': {
    zh: '上游超出输出上限',
    en: 'The provider exceeded the output limit',
  },
  'released:draining': { zh: '网关正在重启', en: 'The gateway was restarting' },
  'released:store-unavailable': {
    zh: '网关无法记账',
    en: 'The gateway could not record the call',
  },
  'released:done': { zh: '未产生用量', en: 'No usage' },
}

/** If `other` contains this text, the gateway could not reach any provider for the call. */
const UNREACHED = '"error_code":"upstream_unreachable"'

export function reasonTextOfLogRow(
  row: Pick<LogRow, 'reason' | 'other'>,
  language: Language,
): string {
  const isUnreached = row.reason === 'released:upstream-error' && row.other.includes(UNREACHED)
  const reason = isUnreached ? 'released:unreached' : row.reason
  return REASON_TEXTS[reason]?.[language] ?? reason
}

export type Viewer = { readonly isAdmin: boolean; readonly language: Language }

/**
 * A log row with its encrypted columns decrypted. The row also contains fields that some viewers
 * may not see.
 */
type DecryptedRow = LogRow & { readonly address: string; readonly noteText: string | null }

/**
 * Decrypts the encrypted columns of log rows. NOTE: This function changes the rows in place,
 * because an export of millions of rows would spend most of its time on copies.
 */
export const decryptRows = (vault: Vault, rows: readonly LogRow[]): Promise<DecryptedRow[]> =>
  Promise.all(
    rows.map(async (row) => {
      const { userId, clientIp, note } = row
      const ip = clientIp === null ? '' : ((await vault.open(userId, clientIp)) ?? '')
      const noteText = note === null ? null : ((await vault.open(userId, note)) ?? '')
      return Object.assign(row, { address: row.showsIp ? ip : networkOf(ip), noteText })
    }),
  )

/**
 * Converts a row to a response or live message with only the fields that the viewer may see. NOTE:
 * `other` must be the last member (see `jsonLine`).
 */
export const logResponse = (
  row: DecryptedRow,
  viewer: Viewer,
  message?: ProviderMessage,
  corrections: readonly LoggedCorrection[] = [],
): LogEntry => ({
  id: row.id,
  created_at: row.createdAt,
  type: row.type,
  request_id: row.requestId,
  channel: viewer.isAdmin ? row.channelId : 0,
  channel_name: viewer.isAdmin ? row.channelName : '',
  username: row.username,
  user_id: row.userId,
  token_name: row.tokenName,
  group: row.group,
  model_name: row.model,
  // The log has the time at which an interrupted call was cleaned up, and not the time of the
  // interruption. The duration of the call is therefore unknown.
  use_time: row.reason === 'interrupted' ? 0 : Math.round(row.durationMs / 1_000),
  is_stream: row.isStream,
  prompt_tokens: row.promptTokens,
  completion_tokens: row.completionTokens,
  quota: toWire(row.quota),
  content: reasonTextOfLogRow(row, viewer.language),
  client_ip: row.address,
  other: mergeJson(
    viewer.isAdmin ? otherForAdmin(row) : row.other,
    mergeJson(
      messageFor(message, viewer.isAdmin),
      corrections.length === 0 ? '{}' : JSON.stringify({ corrected_by: corrections }),
    ),
  ),
})

function otherForAdmin({
  other,
  adminOther,
  failedChannels,
  actorId: id,
  actorName,
  noteText,
}: DecryptedRow): string {
  const failed = failedChannels === null ? '{}' : `{"failed_channels":${failedChannels}}`
  const text = mergeJson(mergeJson(other, adminOther), failed)
  if (id === 0) return text
  const changed = { changed_by: { id, username: actorName }, note: noteText }
  return mergeJson(text, JSON.stringify(changed))
}

/** Merges two JSON objects without parsing them. No member name may occur in both objects. */
const mergeJson = (a: string, b: string): string => {
  if (b === '{}') return a
  return a === '{}' ? b : `${a.slice(0, -1)},${b.slice(1)}`
}

/**
 * Returns the network of an IP address, such as `203.0.113.x`. Logs show only the network, unless
 * the user has chosen to show full addresses.
 */
function networkOf(ip: string): string {
  if (ip === '') return ''
  if (isIPv4(ip)) return ip.replace(/\.\d+$/, '.x')
  return `${ip.split(':').slice(0, 3).join(':')}::x`
}

/**
 * The error message of a provider about a failed call. If `isShown` is false, only admins may see
 * the message.
 */
type ProviderMessage = { readonly text: string; readonly isShown: boolean }

/** Maps the request ids of failed calls to the error messages of the providers. */
export async function messagesOf(
  { providerMessages, core }: Pick<ReadDeps, 'providerMessages' | 'core'>,
  rows: readonly LogRow[],
): Promise<ReadonlyMap<string, ProviderMessage>> {
  const failed = new Map(rows.filter(isFailed).map(({ requestId, userId }) => [requestId, userId]))
  const found = await providerMessages.find([...failed.keys()])
  const messages = new Map<string, ProviderMessage>()
  for (const [call, { message, isShown }] of found) {
    const text = await core.vault.open(failed.get(call) ?? 0, message)
    if (text !== null) messages.set(call, { text, isShown })
  }
  return messages
}

/**
 * Returns a JSON object with the provider's message. The caller merges this object into `other` of
 * the log row. Returns `{}` if there is no message, or if the viewer may not see the message.
 */
function messageFor(message: ProviderMessage | undefined, isAdmin: boolean): string {
  if (message === undefined || !(isAdmin || message.isShown)) return '{}'
  return JSON.stringify({ provider_message: message.text })
}

const isFailed = ({ reason, other }: LogRow): boolean =>
  reason.startsWith('released:') || other.includes('"end":"upstream-error"')
