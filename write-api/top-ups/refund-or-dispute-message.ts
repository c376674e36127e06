import type { ReportEffect } from '#domain/top-ups/decide-provider-report.ts'
import type { TopUpOrdered } from '#domain/top-ups/events.ts'
import { moneyText } from '#domain/top-ups/money.ts'
import type { MessageContent } from '../messages/send-message.ts'
import type { StripeReport } from './read-stripe-refund-or-dispute.ts'

type Report = StripeReport['command']
/**
 * The effect of a report. `other-currency`: the report was not applied, because its currency
 * differs from the order's currency.
 */
type NoticeEffect = ReportEffect | 'other-currency'

export type ReportNotice = {
  readonly order: TopUpOrdered['data']
  readonly effect: NoticeEffect
  readonly command: Report
  /**
   * The money in hundredths of the currency for which quota is deducted. It is negative if quota is
   * restored.
   */
  readonly cents: bigint
}

const TITLES: Readonly<Record<NoticeEffect, readonly [zh: string, en: string]>> = {
  refunded: ['Stripe 已退款', 'Refunded at Stripe'],
  'refund-failed': ['Stripe 退款失败', 'A refund failed at Stripe'],
  disputed: ['付款被拒付（争议）', 'A payment is disputed'],
  'dispute-won': ['拒付争议胜诉', 'A dispute was won'],
  'dispute-lost': ['拒付争议败诉', 'A dispute was lost'],
  'dispute-closed': ['拒付争议已关闭', 'A dispute was closed'],
  'other-currency': ['Stripe 报告的币种不符', 'A Stripe report is in a different currency'],
}

/**
 * Returns the message to the admins about a report, in Chinese and English, because the language of
 * each admin is unknown.
 */
export function refundOrDisputeMessage({
  order,
  effect,
  command,
  cents,
}: ReportNotice): MessageContent {
  const { orderId, userId, tradeNo, currency } = order
  const [zh, en] = TITLES[effect]
  const sum = `${moneyText(command.cents)} ${command.currency}`
  const id = command.type === 'ReportRefund' ? command.refundId : command.disputeId
  const lines = [
    `- 订单 / Order: #${orderId}`,
    `- 用户 / User: #${userId}`,
    `- 金额 / Amount: ${sum}`,
    `- Stripe: ${code(id)}`,
    ...(command.reason === '' ? [] : [`- 原因 / Reason: ${code(command.reason)}`]),
    `- 状态 / Status: ${code(command.status)}`,
    ...dueLine(command, effect),
  ]
  const [movedZh, movedEn] = movement(cents, currency, effect)
  const link = `[查看订单 / Open the order](/admin/orders?keyword=${tradeNo})`
  return {
    title: `${zh}：#${orderId} / ${en}: order #${orderId}`,
    content: [lines.join('\n'), movedZh, movedEn, link].join('\n\n'),
  }
}

/**
 * Formats a text as code in Markdown. Characters that could be interpreted as markup are removed.
 */
const code = (text: string): string => `\`${text.replace(/[^\w.-]/g, '')}\``

function dueLine(command: Report, effect: NoticeEffect): string[] {
  if (effect !== 'disputed' || command.type !== 'ReportDispute' || command.dueBy === null) return []
  const until = new Date(command.dueBy * 1_000).toISOString().slice(0, 16).replace('T', ' ')
  return [`- 举证截止 / Evidence due by: ${until} UTC`]
}

function movement(
  cents: bigint,
  currency: string,
  effect: NoticeEffect,
): readonly [string, string] {
  if (cents > 0n) {
    const sum = `${moneyText(cents)} ${currency}`
    return [
      `已自动扣回 ${sum} 对应的额度与邀请返佣，余额可能为负。`,
      `The quota bought with ${sum} and the inviter’s share of it were deducted. ` +
        'Balances may be below zero.',
    ]
  }
  if (cents < 0n) {
    const sum = `${moneyText(-cents)} ${currency}`
    return [
      `已自动恢复 ${sum} 对应的额度与邀请返佣。`,
      `The quota bought with ${sum} and the inviter’s share of it were restored.`,
    ]
  }
  if (effect === 'disputed') {
    return [
      '额度暂未扣回；Stripe 划走款项或争议败诉时自动扣回，款项退回时自动恢复。',
      'No quota has been deducted yet. It will be deducted when Stripe withdraws the money or ' +
        'the dispute is lost, and restored when the money is returned.',
    ]
  }
  if (effect === 'other-currency') {
    return [
      '报告的币种与订单不同，额度没有变动，请手动处理。',
      'The currency of the report differs from that of the order, so no quota has changed. If ' +
        'the money has left your account, record the refund of the order manually.',
    ]
  }
  return ['额度没有变动。', 'No quota has changed.']
}
