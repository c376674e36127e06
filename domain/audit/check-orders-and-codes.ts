import type {
  QuotaGranted,
  RebateEarned,
  RebateReversed,
  TopUpCredited,
  TopUpReversed,
} from '../accounts/events.ts'
import type { CodeRedeemed, RedemptionEvent } from '../redemptions/events.ts'
import type { Recorded } from '../shared/event.ts'
import { fromWire } from '../shared/quota.ts'
import type { TopUpEvent, TopUpRefunded, TopUpRestored } from '../top-ups/events.ts'
import type { FindingCode, ParamsOf } from './finding-texts.ts'
import type { Findings } from './findings.ts'
import { addId } from './fingerprint-table.ts'
import { type MovementEvent, matchMovement } from './match-source-and-account-events.ts'
import { type AuditState, isPartial } from './state.ts'

/**
 * Checks that each redemption complies with the terms of the code, and that no user redeems the
 * same code twice.
 */
export function checkRedemption(state: AuditState, recorded: Recorded, findings: Findings): void {
  const event = recorded as Recorded<RedemptionEvent>
  const { stream } = event
  if (event.type === 'RedemptionCreated') {
    const { redemptionId: id, terms } = event.data
    state.codes.set(stream, { id, terms, uses: 0, isDisabled: false })
    return
  }
  if (event.type === 'CodeRedeemed') return redeem(state, event, findings)
  const code = state.codes.get(stream)
  if (code === undefined) return
  switch (event.type) {
    case 'RedemptionTermsChanged':
      code.terms = event.data.terms
      return
    case 'RedemptionDisabled':
      code.isDisabled = true
      return
    case 'RedemptionEnabled':
      code.isDisabled = false
      return
    case 'RedemptionDeleted':
      state.codes.delete(stream)
  }
}

function redeem(state: AuditState, event: Recorded<CodeRedeemed>, findings: Findings): void {
  const { redemptionId, userId, quota, use } = event.data
  const check = 'redemptions'
  const key = redemptionKey(redemptionId, userId)
  matchMovement(state, findings, event, {
    ...{ check, key, isSource: true },
    amount: fromWire(quota),
  })
  const isFirst = addId(state.redeemed, key)
  findings.expect(check, isFirst, event, 'CodeRedeemedAgain', () => ({ userId }))
  const code = state.codes.get(event.stream)
  if (code === undefined || code.id !== redemptionId) {
    if (!isPartial(state)) findings.report(check, event, 'CodeUnknown', { code: redemptionId })
    return
  }
  code.uses += 1
  const { maxUses, validFrom, validUntil, quota: worth } = code.terms
  const now = Math.floor(event.meta.at / 1_000)
  const { id, uses } = code
  const expect = <Code extends FindingCode>(
    holds: boolean,
    findingCode: Code,
    params: ParamsOf<Code>,
  ) => findings.expect(check, holds, event, findingCode, () => params)
  expect(use === uses, 'CodeUsesDiffer', { code: id, recorded: use, uses })
  expect(maxUses === null || uses <= maxUses, 'CodeUsedUp', { code: id, uses, max: maxUses ?? 0 })
  expect(quota === worth, 'CodeQuotaDiffers', { code: id, quota, expected: worth })
  expect(!code.isDisabled, 'CodeDisabled', { code: id })
  expect(validFrom === null || now >= validFrom, 'CodeNotYetValid', { code: id })
  expect(validUntil === null || now < validUntil, 'CodeExpired', { code: id })
}

const redemptionKey = (redemptionId: number, userId: number): string =>
  `redemption ${redemptionId} by user ${userId}`

/** Checks that each order is paid only once, and that its refunds do not exceed the payment. */
export function checkOrder(state: AuditState, recorded: Recorded, findings: Findings): void {
  const event = recorded as Recorded<TopUpEvent>
  const { orderId, userId } = event.data
  if (event.type === 'TopUpOrdered') {
    const quota = fromWire(event.data.quota)
    const counts = { refunds: 0, restorations: 0, remaining: 0n }
    state.orders.set(orderId, { userId, quota, isPaid: false, ...counts })
    return
  }
  if (event.type === 'TopUpPaid') {
    const order = state.orders.get(orderId)
    const { rebate } = event.data
    if (rebate !== null) {
      const movement = { key: `rebate of order ${orderId}`, amount: fromWire(rebate.quota) }
      matchMovement(state, findings, event, { ...SOURCE, ...movement, isUpperBound: true })
    }
    if (order === undefined) {
      if (!isPartial(state)) findings.report('orders', event, 'OrderUnknown', { order: orderId })
      return
    }
    const isRight = !order.isPaid && order.userId === userId
    findings.expect('orders', isRight, event, 'OrderNotPayable', () => ({ order: orderId }))
    order.isPaid = true
    order.remaining = order.quota
    const movement = { key: orderKey(event.data), amount: order.quota }
    matchMovement(state, findings, event, { ...SOURCE, ...movement })
    return
  }
  if (event.type === 'TopUpRefunded' || event.type === 'TopUpRestored') {
    refundOrRestore(state, event, findings)
  }
}

const SOURCE = { check: 'orders', isSource: true } as const

function refundOrRestore(
  state: AuditState,
  event: Recorded<TopUpRefunded | TopUpRestored>,
  findings: Findings,
): void {
  const { data } = event
  const isRefund = event.type === 'TopUpRefunded'
  const [quota, rebate] = [fromWire(data.quota), fromWire(data.rebateQuota)]
  const key = orderKey(data)
  if (quota !== 0n) matchMovement(state, findings, event, { ...SOURCE, key, amount: quota })
  if (rebate !== 0n) {
    const movement = { key: `rebate of ${key}`, amount: rebate, isUpperBound: !isRefund }
    matchMovement(state, findings, event, { ...SOURCE, ...movement })
  }
  const order = state.orders.get(data.orderId)
  if (order === undefined) {
    const { orderId } = data
    if (!isPartial(state)) findings.report('orders', event, 'OrderUnknown', { order: orderId })
    return
  }
  order.remaining += isRefund ? -quota : quota
  if (isRefund) order.refunds += 1
  else order.restorations += 1
  const isWithin = order.isPaid && order.remaining >= 0n && order.remaining <= order.quota
  findings.expect('orders', isWithin, event, 'RefundsExceedPayment', () => {
    return { movement: key, remaining: order.remaining }
  })
  const number = 'refundNo' in data ? data.refundNo : data.restoreNo
  const isNext = number === (isRefund ? order.refunds : order.restorations)
  findings.expect('orders', isNext, event, 'OrderPartNotNext', () => ({ movement: key }))
}

type OrderPart = {
  readonly orderId: number
  readonly refundNo?: number
  readonly restoreNo?: number
}

function orderKey({ orderId, refundNo, restoreNo }: OrderPart): string {
  if (refundNo !== undefined) return `order ${orderId} refund ${refundNo}`
  return restoreNo === undefined ? `order ${orderId}` : `order ${orderId} restoration ${restoreNo}`
}

type Credit = QuotaGranted | TopUpCredited | TopUpReversed | RebateEarned | RebateReversed

/**
 * Matches an event that credits or debits an account with the event of the order or code that
 * caused the movement.
 */
export function matchCredit(state: AuditState, recorded: Recorded, findings: Findings): void {
  const movement = movementEventOf(recorded as Recorded<Credit>)
  if (movement !== null) matchMovement(state, findings, recorded, { ...movement, isSource: false })
}

function movementEventOf({ type, data }: Recorded<Credit>): Omit<MovementEvent, 'isSource'> | null {
  const amount = fromWire(data.amount)
  switch (type) {
    case 'QuotaGranted': {
      const { reason, grantId, userId } = data as QuotaGranted['data']
      if (reason !== 'redemption') return null
      const key = redemptionKey(Number(grantId.replace('redemption-', '')), userId)
      return { check: 'redemptions', key, amount }
    }
    case 'TopUpCredited':
    case 'TopUpReversed':
      return { check: 'orders', key: orderKey(data as OrderPart), amount }
    case 'RebateEarned':
    case 'RebateReversed':
      return { check: 'orders', key: `rebate of ${orderKey(data as OrderPart)}`, amount }
  }
}
