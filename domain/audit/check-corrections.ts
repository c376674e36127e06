import type { ChargeCorrected } from '../accounts/events.ts'
import type { CorrectionScope, CorrectionStarted } from '../corrections/events.ts'
import { applyPriceCorrection, chargeAtPrice } from '../pricing/charge-at-corrected-price.ts'
import type { Recorded } from '../shared/event.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import { findEnd } from './admitted-calls-and-their-ends.ts'
import type { CorrectableCall } from './correctable-call-table.ts'
import type { Findings } from './findings.ts'
import { type AuditState, isPartial } from './state.ts'

/** Stores the scope of a correction: the calls whose charges it may correct. */
export function rememberCorrection(state: AuditState, event: Recorded): void {
  if (event.type !== 'CorrectionStarted') return
  const { id, scope } = event.data as CorrectionStarted['data']
  if (!state.corrections.has(id)) state.corrections.set(id, scope)
}

/**
 * Checks a correction. The correction must have been started, and each corrected call must be in
 * the scope. Each charge that the correction replaces must be the latest charge of the call. Each
 * new charge must be the charge at the correction's price, minus the part that the account could
 * not pay.
 */
export function checkCorrection(
  state: AuditState,
  event: Recorded<ChargeCorrected>,
  findings: Findings,
): void {
  const { stream, data } = event
  const { correctionId } = data
  const scope = state.corrections.get(correctionId)
  const isStarted = scope !== undefined || isPartial(state)
  findings.expect('charges', isStarted, event, 'CorrectionUnknown', () => ({
    correction: correctionId,
  }))
  for (const item of data.calls) {
    const { call, charge, corrected } = item
    const key = `${stream} ${call}`
    const ended = findEnd(state.remembered, stream, call)
    const original = ended === null ? undefined : fromWire(ended.charge)
    const inForce = state.correctedCharges.get(key) ?? original
    const isKnown = inForce === undefined ? isPartial(state) : inForce === fromWire(charge)
    findings.expect('charges', isKnown, event, 'CorrectedChargeUnknown', () => ({ call, charge }))
    state.correctedCharges.set(key, fromWire(corrected))
    if (ended === null || scope === undefined) continue
    const price = data.model === ended.model ? chargeInScope(ended, scope) : null
    if (price === null) {
      findings.expect('charges', false, event, 'CallNotInScope', () => {
        return { call, correction: correctionId }
      })
      continue
    }
    const isRight = isChargedAs(item, price, data.balanceAfter)
    findings.expect('charges', isRight, event, 'CorrectedChargeDiffers', () => {
      return { call, corrected, expected: price }
    })
  }
}

/**
 * Returns the charge of a call at the price of a correction, or null if the call is not in the
 * correction's scope.
 */
function chargeInScope(call: CorrectableCall, scope: CorrectionScope): Quota | null {
  const isOfScope =
    call.model === scope.model &&
    (scope.group === null || call.group === scope.group) &&
    call.second >= scope.from &&
    call.second <= scope.to &&
    call.position <= scope.upTo &&
    !call.isBilledByLine
  const price = isOfScope ? applyPriceCorrection(call.price, scope.price) : null
  return price === null ? null : chargeAtPrice(call, price)
}

/**
 * Reports whether the new charge is `price` minus the unpaid part. `price` is the call's charge at
 * the price of the correction. An unpaid part is right only if the correction raised the charge and
 * left a balance of 0 or less.
 */
function isChargedAs(
  { charge, corrected, unpaid }: ChargeCorrected['data']['calls'][number],
  price: Quota,
  balanceAfter: number | undefined,
): boolean {
  const left = unpaid === undefined ? 0n : fromWire(unpaid)
  if (fromWire(corrected) + left !== price) return false
  return left === 0n || (left > 0n && corrected >= charge && (balanceAfter ?? 0) <= 0)
}
