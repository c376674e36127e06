import { messageDecider } from '#domain/message/decide.ts'
import { messageStream } from '#domain/message/events.ts'
import { rangesOf } from '#domain/message/recipients.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { TopUpReport } from '#domain/top-up/commands.ts'
import { topUpDecider } from '#domain/top-up/decide.ts'
import { newsOf, reportedChange } from '#domain/top-up/decide-report.ts'
import { topUpStream } from '#domain/top-up/events.ts'
import type { AnyStep, CommandContext, Outcome } from '#infra/event-store/actors-port.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { orderOfPayment } from '#projections/orders/query.ts'
import { activeAdminIds } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { storeText } from '../messages/send-message.ts'
import { orderIdOf } from './pay.ts'
import { noticeText, type ReportNotice } from './report-notice.ts'
import type { StripeReport } from './stripe-reports.ts'
import { accountSteps } from './take-payment.ts'

const FRESH_WITHIN_MS = 2_000
/** Other processes decide on the same order at the same time; Stripe sends again after that. */
const TRIES_MAX = 10

/**
 * Records what Stripe said of a refund or a dispute, takes back or restores the quota that goes
 * with it, and tells the admins, in one append: once, however often and in which order it is said.
 * Resolves once it is a fact, or where it is none of this site's; rejects when that is not known,
 * so that Stripe sends it again.
 */
export async function takeReport(
  deps: Deps,
  { paymentId, tradeNo, command }: StripeReport,
  cause: string,
): Promise<void> {
  const orderId = await orderOf(deps, paymentId, tradeNo)
  if (orderId === null) {
    const facts = { provider: 'stripe', paymentId, report: command.type }
    deps.core.log.warn(facts, 'Stripe reported on a payment of no order of this site: ignored')
    return
  }
  const stream = topUpStream(orderId)
  await deps.runExclusive(stream, async () => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const error = await decideOnce(deps, stream, command, cause)
      if (error === null) return
      if (error === 'RefundedMeanwhile') continue
      const facts = { alarm: 'payment-report-refused', provider: 'stripe', orderId, paymentId }
      deps.core.log.error({ ...facts, reason: error }, 'a report of Stripe was not applied')
      // Another currency stays another one; the rest may be mended before Stripe gives up.
      if (error === 'TopUpMismatch') return
      break
    }
    throw httpError('Unavailable')
  })
}

/**
 * The order that the payment paid. The trade number on a charge says more: an order of ours whose
 * payment is not recorded yet is no stranger's, and the report has to come again.
 */
async function orderOf(
  { core, freshness }: Deps,
  paymentId: string | null,
  tradeNo: string | null,
): Promise<number | null> {
  if (paymentId === null) return null
  const head = await core.store.headPosition()
  if (!(await freshness.waitFor(['orders', 'users'], head, FRESH_WITHIN_MS))) {
    throw httpError('Unavailable')
  }
  const orderId = await orderOfPayment(core.db, paymentId)
  if (orderId !== null || tradeNo === null) return orderId
  const namedId = orderIdOf(tradeNo)
  if (namedId === null) return null
  const { order, payment } = await core.actors.glance(topUpDecider, topUpStream(namedId))
  if (order?.tradeNo === tradeNo && payment === null) throw httpError('Unavailable')
  return null
}

/** null: it is a fact, or was one before. Otherwise the code of the error. */
async function decideOnce(
  deps: Deps,
  stream: string,
  said: StripeReport['command'],
  cause: string,
): Promise<string | null> {
  const { actors, vault, now } = deps.core
  const state = await actors.stateOf(topUpDecider, stream)
  const { order } = state
  if (order === null) return 'TopUpUnknown'
  const note = await vault.seal(order.userId, noteOf(said))
  const command: TopUpReport = { ...said, note, changesBefore: state.changes }
  const cents = reportedChange(command, state)
  const steps = [{ decider: topUpDecider, stream, command }, ...accountSteps(state, cents, note)]
  const context = { actor: 'system:stripe', cause, at: now() }
  const news = newsOf(command, state)
  const outcome =
    news === null
      ? await actors.handleTogether(steps, context)
      : await withNotice(deps, steps, { order, news, command, cents }, context)
  return outcome.isDone ? null : outcome.error.code
}

/** The notice is a message to all admins, in the append of what it is about: never twice. */
async function withNotice(
  { core, nextIds }: Deps,
  steps: readonly AnyStep[],
  notice: ReportNotice,
  context: CommandContext,
): Promise<Outcome<Fact, CodedError>> {
  const { actors, db, vault } = core
  const recipients = rangesOf(await activeAdminIds(db))
  if (recipients.length === 0) return actors.handleTogether(steps, context)
  const text = noticeText(notice)
  const { outcome } = await nextIds('message', async (messageId) => {
    const textRef = await storeText(vault, messageId, text)
    const message = { type: 'SendMessage', messageId, recipients, format: 'markdown', textRef }
    const sending = { decider: messageDecider, stream: messageStream(messageId), command: message }
    const sent = await actors.handleTogether([...steps, sending], context)
    if (!sent.isDone) await vault.deleteSecret(textRef)
    return sent
  })
  return outcome
}

/** What stands beside the quota in the user's log. */
function noteOf(command: StripeReport['command']): string {
  const [what, id] =
    command.type === 'ReportRefund' ? ['refund', command.refundId] : ['dispute', command.disputeId]
  return `Stripe: ${what} ${id}${command.reason === '' ? '' : ` (${command.reason})`}`
}
