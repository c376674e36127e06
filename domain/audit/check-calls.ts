import type {
  CallAdmitted,
  CallInterrupted,
  CallProgressed,
  CallReleased,
  CallSettled,
  ChargeCorrected,
  HoldRaised,
} from '../accounts/events.ts'
import type { BatchLinesBilled, BatchSubmitted, BilledLine } from '../batches/events.ts'
import { chargeFor, hasUsage } from '../pricing/charge.ts'
import type { PriceSnapshot } from '../pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '../pricing/usage.ts'
import { isSame } from '../shared/deep-equal.ts'
import type { Recorded } from '../shared/event.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import {
  rememberAdmission,
  rememberEnd,
  rememberUnknownEnd,
} from './admitted-calls-and-their-ends.ts'
import { checkCorrection } from './check-corrections.ts'
import type { Findings } from './findings.ts'
import { type AuditedCall, type AuditState, isPartial } from './state.ts'

type CallEvent =
  | CallAdmitted
  | CallProgressed
  | HoldRaised
  | CallSettled
  | CallReleased
  | CallInterrupted

type CallEnd = CallSettled | CallReleased | CallInterrupted

/**
 * The time in milliseconds within which the sweeper (a background job) must end a call whose lease
 * has expired. The sweeper runs every 5 s, and first waits for half of a lease when its process
 * starts.
 */
const SWEPT_WITHIN_MS = 300_000

/** Checks the events of a call: one admission, changes of its hold, one end, and the charge. */
export function checkCall(state: AuditState, recorded: Recorded, findings: Findings): void {
  const event = recorded as Recorded<CallEvent | ChargeCorrected>
  switch (event.type) {
    case 'CallAdmitted':
      return admit(state, event, findings)
    case 'CallProgressed': {
      const call = openCall(state, event, findings)
      if (call === null) return
      call.leaseUntil = event.data.leaseUntil
      call.usage = JSON.stringify(event.data.usage)
      return
    }
    case 'HoldRaised': {
      const call = openCall(state, event, findings)
      if (call === null) return
      call.hold += fromWire(event.data.added)
      const { hold } = event.data
      const isRight = call.hold === fromWire(hold)
      findings.expect('postings', isRight, event, 'HoldDiffers', () => {
        return { hold: call.hold, recorded: hold }
      })
      return
    }
    case 'CallSettled':
    case 'CallReleased':
    case 'CallInterrupted':
      return end(state, event, findings)
    case 'ChargeCorrected':
      return checkCorrection(state, event, findings)
  }
}

function admit(state: AuditState, event: Recorded<CallAdmitted>, findings: Findings): void {
  const { position, stream, revision } = event
  const { call, userId, tokenId, hold, price, model, leaseUntil, batch = null } = event.data
  const isNew = rememberAdmission(state.remembered, call)
  findings.expect('call-ends', isNew, event, 'CallRepeated', () => ({ call }))
  const place = { position, stream, revision }
  const terms = { userId, tokenId, hold: fromWire(hold), price, model, leaseUntil }
  state.calls.set(call, { ...place, ...terms, usage: null, batch })
}

/**
 * Returns the open call to which an event belongs. Returns null and reports the event if the call
 * is not open or belongs to another account. If the audit began after the first event, a call that
 * is not open is not reported.
 */
function openCall(
  state: AuditState,
  event: Recorded<CallEvent>,
  findings: Findings,
): AuditedCall | null {
  const { call: id } = event.data
  const call = state.calls.get(id)
  if (call === undefined) {
    if (!isPartial(state)) findings.report('call-ends', event, 'CallNotOpen', { call: id })
    return null
  }
  if (call.stream === event.stream) return call
  findings.report('call-ends', event, 'CallOfOtherAccount', { call: id, stream: call.stream })
  return null
}

function end(state: AuditState, event: Recorded<CallEnd>, findings: Findings): void {
  const { data } = event
  findings.checked('call-ends')
  const call = openCall(state, event, findings)
  if (call !== null) {
    state.calls.delete(data.call)
    const isHold = call.hold === fromWire(data.hold)
    findings.expect('postings', isHold, event, 'ReturnedHoldDiffers', () => {
      return { returned: data.hold, hold: call.hold }
    })
  } else if (isPartial(state)) {
    const isFirst = rememberUnknownEnd(state.remembered, data.call)
    if (!isFirst) findings.report('call-ends', event, 'CallEndedTwice', { call: data.call })
  }
  if (event.type === 'CallReleased') {
    releaseBatch(state, data.call, call)
    return
  }
  rememberEnd(state.remembered, event)
  checkPrice(event, call, findings)
  const expected = expectedCharge(state, event, call, findings)
  if (expected !== null) compareCharges(event, fromWire(event.data.charge), expected, findings)
}

/**
 * Reports a charge that differs from the recomputed charge. A charge that is too high is reported
 * by the check `charges`, and a charge that is too low by the check `prices`.
 */
function compareCharges(
  event: Recorded<CallSettled | CallInterrupted>,
  charge: Quota,
  expected: Quota,
  findings: Findings,
): void {
  findings.checked('charges')
  findings.checked('prices')
  if (charge === expected) return
  const { call } = event.data
  const check = charge > expected ? 'charges' : 'prices'
  findings.report(check, event, 'ChargeDiffers', { call, charge, expected })
}

/**
 * Checks that the call ended with the price of its admission. The price may differ if another model
 * or group served the call.
 */
function checkPrice(
  { data, ...event }: Recorded<CallSettled | CallInterrupted>,
  call: AuditedCall | null,
  findings: Findings,
): void {
  if (call === null || data.requested !== undefined) return
  const isKept = data.model === call.model && isSame(data.price, call.price)
  findings.expect('prices', isKept, event, 'PriceDiffers', () => ({ call: data.call }))
}

/**
 * Recomputes the charge of a call from the usage, the price and the number of calls in the event
 * that ended the call. For a call that pays for lines of a batch, returns the sum of the billed
 * charges in the events of the batch minus the unpaid part. Returns null if the batch is unknown.
 */
function expectedCharge(
  state: AuditState,
  event: Recorded<CallSettled | CallInterrupted>,
  call: AuditedCall | null,
  findings: Findings,
): Quota | null {
  const { price, usage, calls } = event.data
  if (event.type === 'CallSettled' && event.data.billedLines !== undefined) {
    return chargeOfBatch(state, event, call, findings)
  }
  if (event.type === 'CallInterrupted' && call !== null) {
    const isLast = call.usage === null ? !hasUsage(usage) : call.usage === JSON.stringify(usage)
    findings.expect('charges', isLast, event, 'UsageNotLastProgress')
    releaseBatch(state, event.data.call, call)
  }
  return chargeFor(price, usage, calls)
}

function chargeOfBatch(
  state: AuditState,
  { data, ...event }: Recorded<CallSettled>,
  call: AuditedCall | null,
  findings: Findings,
): Quota | null {
  const batchId = data.batch?.id ?? ''
  const batch = state.batches.get(batchId)
  const part = batch?.calls.indexOf(data.call) ?? -1
  if (batch === undefined || part < 0) {
    if (!isPartial(state)) findings.report('prices', event, 'BatchUnknown', { batch: batchId })
    return null
  }
  const [charge = 0n, count = 0] = [batch.charges[part], batch.counts[part]]
  releaseBatch(state, data.call, call)
  const { billedLines: charged = 0 } = data
  findings.expect('charges', count === charged, event, 'BilledLinesDiffer', () => {
    return { charged, billed: count }
  })
  return charge - fromWire(data.unpaid ?? 0)
}

/** Removes a batch from the state when all of its calls have ended. */
function releaseBatch(state: AuditState, id: string, call: AuditedCall | null): void {
  const batchId = call?.batch?.id
  const batch = batchId === undefined ? undefined : state.batches.get(batchId)
  if (batch === undefined || batchId === undefined || !batch.calls.includes(id)) return
  batch.openCalls -= 1
  if (batch.openCalls === 0) state.batches.delete(batchId)
}

/** Checks that each line of a batch is billed once, and that its charge is right. */
export function checkBatch(state: AuditState, event: Recorded, findings: Findings): void {
  if (event.type === 'BatchSubmitted') {
    const { batch, parts, lines } = event.data as BatchSubmitted['data']
    state.batches.set(batch, {
      prices: parts.map(({ price }) => price),
      calls: parts.map(({ call }) => call),
      charges: parts.map(() => 0n),
      counts: parts.map(() => 0),
      billed: new Set(),
      ...{ lines, openCalls: parts.length },
    })
  }
  if (event.type !== 'BatchLinesBilled') return
  const { batch: id, lines } = event.data as BatchLinesBilled['data']
  const batch = state.batches.get(id)
  if (batch === undefined) {
    if (!isPartial(state)) findings.report('prices', event, 'BatchNotOpen', { batch: id })
    return
  }
  for (const billed of lines) {
    const { line, part, charge } = billed
    const isNew = line < batch.lines && !batch.billed.has(line)
    findings.expect('charges', isNew, event, 'LineNotNew', () => ({ line, batch: id }))
    batch.billed.add(line)
    const price = batch.prices[part]
    const isPriced = price !== undefined && isChargeOfLine(price, billed)
    findings.expect('prices', isPriced, event, 'LineChargeDiffers', () => ({ line, charge }))
    batch.charges[part] = (batch.charges[part] ?? 0n) + fromWire(charge)
    batch.counts[part] = (batch.counts[part] ?? 0) + 1
  }
}

/**
 * Reports whether the charge of a line follows from its usage and price. The event omits the number
 * of calls if this number is 1, which is the most frequent case.
 */
function isChargeOfLine(price: PriceSnapshot, line: BilledLine): boolean {
  const usage: Usage = { ...NO_USAGE, ...line.usage }
  const charge = fromWire(line.charge)
  return charge === chargeFor(price, usage) || charge === chargeFor(price, usage, line.calls ?? 1)
}

/**
 * Reports the open calls whose lease ended too long before the last event. Time before
 * `runningSince` does not count, because no process was running that could end calls.
 */
export function checkLeases(state: AuditState, findings: Findings, runningSince: number): void {
  for (const [id, call] of state.calls) {
    const overdueMs = state.lastAt - Math.max(call.leaseUntil, runningSince)
    findings.expect('leases', overdueMs <= SWEPT_WITHIN_MS, call, 'HoldOverdue', () => {
      const minutes = Math.floor((state.lastAt - call.leaseUntil) / 60_000)
      return { call: id, hold: call.hold, minutes }
    })
  }
}
