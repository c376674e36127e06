import { messageDecider } from '#domain/messages/decide.ts'
import { messageStream, rangesOf } from '#domain/messages/events.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { TopUpReport } from '#domain/top-ups/commands.ts'
import { topUpDecider } from '#domain/top-ups/decide.ts'
import { reportEffect, reportedChange } from '#domain/top-ups/decide-provider-report.ts'
import { topUpStream } from '#domain/top-ups/events.ts'
import type { AnyStep, CommandContext, Outcome } from '#infra/event-store/stream-actors-port.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { orderOfPayment } from '#projections/top-ups/query.ts'
import { activeAdminIds } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { restoreDeletedText, storeText } from '../messages/send-message.ts'
import { orderIdOf } from './quote-and-place-order.ts'
import type { StripeReport } from './read-stripe-refund-or-dispute.ts'
import { refundAccountSteps } from './refund-account-steps.ts'
import { type ReportNotice, refundOrDisputeMessage } from './refund-or-dispute-message.ts'
import { tradeNoOfPayment } from './stripe-checkout.ts'

const FRESH_WITHIN_MS = 2_000
/**
 * The maximum number of attempts to append a report. An attempt fails if another process changes
 * the order at the same time. If all attempts fail, Stripe sends the report again.
 */
const ATTEMPTS_MAX = 10

/**
 * Applies Stripe's report of a refund or a dispute. One append records the report, changes the
 * quota and, if `reportEffect` returns an effect, notifies the admins. A report is applied only
 * once, and reports may arrive in any order. Reports about payments of other sites are ignored. If
 * it is unknown whether the append was written, the promise is rejected, so that Stripe sends the
 * report again.
 */
export async function applyRefundOrDispute(
  deps: Deps,
  apiKey: string,
  { paymentId, tradeNo, command }: StripeReport,
  cause: string,
): Promise<void> {
  const orderId = await orderOf(deps, apiKey, paymentId, tradeNo)
  if (orderId === null) {
    const fields = { provider: 'stripe', paymentId, report: command.type }
    deps.core.log.warn(fields, 'ignored a Stripe report about a payment of another site')
    return
  }
  const stream = topUpStream(orderId)
  await deps.runExclusive(stream, async () => {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
      const error = await appendReport(deps, stream, command, cause)
      if (error === null) return
      if (error === 'RefundedMeanwhile') continue
      const fields = { alarm: 'payment-report-refused', provider: 'stripe', orderId, paymentId }
      deps.core.log.error({ ...fields, reason: error }, 'a Stripe report could not be applied')
      // The report has another currency than the order. Stripe would report the same currency
      // again, so the report is accepted and the admins are notified.
      if (error === 'TopUpMismatch') return notifyOfCurrency(deps, stream, command, cause)
      break
    }
    throw httpError('Unavailable')
  })
}

/**
 * Returns the id of the order that a payment has paid, or null if this site has no such order.
 * Throws if the read models are not current in time, or if Stripe cannot be asked for the payment.
 * Also throws if the trade number of the payment, from the report or from Stripe, belongs to an
 * order whose payment is not recorded yet. Stripe then sends the report again.
 */
async function orderOf(
  deps: Deps,
  apiKey: string,
  paymentId: string | null,
  reportedTradeNo: string | null,
): Promise<number | null> {
  if (paymentId === null) return null
  const { core, freshness } = deps
  const head = await core.store.headPosition()
  if (!(await freshness.waitFor(['orders', 'users'], head, FRESH_WITHIN_MS))) {
    throw httpError('Unavailable')
  }
  const orderId = await orderOfPayment(core.db, paymentId)
  if (orderId !== null) return orderId
  const tradeNo = reportedTradeNo ?? (await askForTradeNo(deps, apiKey, paymentId))
  const namedId = orderIdOf(tradeNo ?? '')
  if (namedId === null) return null
  const { order, payment } = await core.actors.peek(topUpDecider, topUpStream(namedId))
  if (order?.tradeNo === tradeNo && payment === null) throw httpError('Unavailable')
  return null
}

async function askForTradeNo(
  deps: Deps,
  apiKey: string,
  paymentId: string,
): Promise<string | null> {
  try {
    return await tradeNoOfPayment(deps, apiKey, paymentId)
  } catch (error) {
    const fields = { paymentId, reason: (error as Error).message }
    deps.core.log.warn(fields, 'looking up the order of a Stripe payment failed')
    throw httpError('Unavailable')
  }
}

/**
 * Appends the effects of a report. Returns null if the append is committed, or the error code if it
 * is rejected.
 */
async function appendReport(
  deps: Deps,
  stream: string,
  report: StripeReport['command'],
  cause: string,
): Promise<string | null> {
  const { actors, vault, now } = deps.core
  const state = await actors.stateOf(topUpDecider, stream)
  const { order } = state
  if (order === null) return 'TopUpUnknown'
  const note = await vault.seal(order.userId, noteOf(report))
  const command: TopUpReport = { ...report, note, changesBefore: state.changes }
  const cents = reportedChange(command, state)
  const steps = [
    { decider: topUpDecider, stream, command },
    ...refundAccountSteps(state, cents, note),
  ]
  const context = { actor: 'system:stripe', cause, at: now() }
  const effect = reportEffect(command, state)
  const outcome =
    effect === null
      ? await actors.handleTogether(steps, context)
      : await withNotice(deps, steps, { order, effect, command, cents }, context)
  return outcome.isDone ? null : outcome.error.code
}

/**
 * Appends the given steps together with a message to the admins, so that the message is sent only
 * once. If there is no active admin, appends only the steps.
 */
async function withNotice(
  { core, nextIds }: Deps,
  steps: readonly AnyStep[],
  notice: ReportNotice,
  context: CommandContext,
): Promise<Outcome<Fact, CodedError>> {
  const { actors, db, vault } = core
  const recipients = rangesOf(await activeAdminIds(db))
  if (recipients.length === 0) return actors.handleTogether(steps, context)
  const text = refundOrDisputeMessage(notice)
  const { outcome } = await nextIds('message', async (messageId) => {
    const textRef = await storeText(vault, messageId, text)
    const message = { type: 'SendMessage', messageId, recipients, format: 'markdown', textRef }
    const sending = { decider: messageDecider, stream: messageStream(messageId), command: message }
    const result = await actors.handleTogether([...steps, sending], context)
    const recorded = { messageId, text: { format: 'markdown', textRef }, content: text } as const
    if (result.isDone) await restoreDeletedText(core, recorded, context)
    else await vault.deleteSecret(textRef)
    return result
  })
  return outcome
}

const NOTICE_KIND = 'stripe-currency-notice'
/**
 * The time in milliseconds during which the admins are not notified of the same report again. This
 * time is longer than the three days for which Stripe repeats a report.
 */
const NOTICE_PAUSE_MS = 7 * 86_400_000

/**
 * Notifies the admins of a report whose currency differs from the order's currency, because only an
 * admin can handle such a report. If the report is repeated within a week, the admins are not
 * notified again.
 */
async function notifyOfCurrency(
  deps: Deps,
  stream: string,
  command: StripeReport['command'],
  cause: string,
): Promise<void> {
  const { actors, shortLived, now } = deps.core
  const { order } = await actors.stateOf(topUpDecider, stream)
  if (order === null) return
  const id = command.type === 'ReportRefund' ? command.refundId : command.disputeId
  const key = `${stream}:${id}:${command.status}`
  if ((await shortLived.peek(NOTICE_KIND, key)) !== null) return
  const notice = { order, effect: 'other-currency', command, cents: 0n } as const
  const outcome = await withNotice(deps, [], notice, { actor: 'system:stripe', cause, at: now() })
  if (!outcome.isDone) throw httpError('Unavailable')
  await shortLived.put(NOTICE_KIND, key, 'sent', NOTICE_PAUSE_MS)
}

/** Returns the note that the user sees in the log next to the change of quota. */
function noteOf(command: StripeReport['command']): string {
  const [subject, id] =
    command.type === 'ReportRefund' ? ['refund', command.refundId] : ['dispute', command.disputeId]
  return `Stripe: ${subject} ${id}${command.reason === '' ? '' : ` (${command.reason})`}`
}
