import type { Language, Words } from '#infra/http/language.ts'
import type { LogRow } from '#projections/call-log/query.ts'

/** What a row says beside its numbers, by the reason that the read model keeps. */
const WORDS: Readonly<Record<string, Words>> = {
  settled: { zh: '', en: '' },
  interrupted: {
    zh: '调用中断，只按中断前已记录的用量结算',
    en: 'Interrupted: charged for what was noted by then',
  },
  site: { zh: '系统初始化完成', en: 'The system was initialised' },
  'grant:setup': { zh: '系统初始化额度', en: 'Opening quota' },
  'grant:new-user': { zh: '新用户注册赠送额度', en: 'Quota for a new user' },
  'grant:invited': { zh: '使用邀请码赠送额度', en: 'Quota for being invited' },
  'grant:redemption': { zh: '通过兑换码充值', en: 'Topped up by a redemption code' },
  'check-in': { zh: '每日签到', en: 'Daily check-in' },
  affiliate: { zh: '邀请额度划转', en: 'Transferred from invitations' },
  'top-up': { zh: '在线充值', en: 'Topped up online' },
  'top-up-refund': { zh: '充值退款', en: 'A top-up was refunded' },
  'top-up-restored': { zh: '退款撤销，额度已恢复', en: 'A refund was undone, its quota restored' },
  'grant:admin': { zh: '管理员增加额度', en: 'Quota added by an administrator' },
  'deduct:admin': { zh: '管理员减少额度', en: 'Quota deducted by an administrator' },
  group: { zh: '管理员修改分组', en: 'Group changed by an administrator' },
  'released:no-channel': { zh: '无可用渠道', en: 'No available channel' },
  'released:refused': { zh: '请求被上游拒绝', en: 'Refused by the provider' },
  'released:client-gone': { zh: '客户端已断开', en: 'The client went away' },
  'released:upstream-error': { zh: '上游返回错误', en: 'The provider answered with an error' },
  'released:unreached': { zh: '无法连接上游', en: 'The provider could not be reached' },
  'released:timeout': { zh: '上游响应超时', en: 'The provider did not answer in time' },
  'released:incomplete': { zh: '上游响应不完整', en: "The provider's answer broke off" },
  'released:screened': { zh: '回答命中屏蔽词，已被拦下', en: 'Withheld by the word check' },
  'released:done': { zh: '未产生用量', en: 'Nothing was used' },
}

/** In `other` of a call that nobody was reached for. */
const UNREACHED = '"error_code":"upstream_unreachable"'

export function wordsOf(row: Pick<LogRow, 'reason' | 'other'>, language: Language): string {
  const isUnreached = row.reason === 'released:upstream-error' && row.other.includes(UNREACHED)
  const reason = isUnreached ? 'released:unreached' : row.reason
  return WORDS[reason]?.[language] ?? reason
}
