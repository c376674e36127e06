import { codedError } from '../shared/coded-error.ts'
import { isPlayground } from '../shared/playground-token-id.ts'
import { QUOTA_MAX, type Quota, toWire } from '../shared/quota.ts'
import { correctionBatchId } from './build-deduplication-ids.ts'
import type { AccountError, CorrectCharges } from './commands.ts'
import { fitsBalance } from './decide-top-ups-and-rewards.ts'
import type { AccountEvent, ChargeCorrected } from './events.ts'
import { correctionPostings } from './ledger-postings.ts'
import type { AccountState } from './state.ts'

type Corrected = ChargeCorrected['data']['calls'][number]

/**
 * Corrects charges. First, the refunds of the command's calls are added to the balance. Then the
 * balance pays the higher charges in the order of the calls. An amount that the balance can't pay
 * is recorded as unpaid.
 */
export function correctCharges(
  command: CorrectCharges,
  state: AccountState,
): readonly AccountEvent[] | AccountError {
  const { userId, correctionId, batch, model, calls } = command
  if (state.deductionIds.has(correctionBatchId(command)) || calls.length === 0) return []
  if (calls.some(({ corrected }) => corrected < 0n || corrected > QUOTA_MAX)) {
    return codedError('AmountOutOfRange')
  }
  let refunds = 0n
  for (const { charge, corrected } of calls) if (corrected < charge) refunds += charge - corrected
  if (!fitsBalance(refunds, state)) return codedError('AmountOutOfRange')
  const afterRefunds = state.balance + refunds
  let payable = afterRefunds > 0n ? afterRefunds : 0n
  let amount = -refunds
  const changes = new Map<number, Quota>()
  const items = calls.map(({ call, tokenId, charge, corrected, ...place }): Corrected => {
    const difference = corrected - charge
    const change = difference > payable ? payable : difference
    if (change > 0n) {
      payable -= change
      amount += change
    }
    changes.set(tokenId, (changes.get(tokenId) ?? 0n) - change)
    const unpaid = difference - change
    const charges = { charge: toWire(charge), corrected: toWire(charge + change) }
    const item = { call, tokenId, ...charges, ...place }
    return unpaid === 0n ? item : { ...item, unpaid: toWire(unpaid) }
  })
  const postings = correctionPostings(userId, amount)
  const ids = { userId, correctionId, batch, model }
  const data = { ...ids, calls: items, budgets: budgetChanges(changes, state) }
  return [{ type: 'ChargeCorrected', v: 1, data: { ...data, amount: toWire(amount), postings } }]
}

/**
 * Returns the amount by which the budget of each token changes. Tokens without a budget are
 * omitted. A change is reduced if the budget would leave the range of quota, so that a budget at
 * its maximum cannot prevent a correction.
 */
function budgetChanges(
  changes: ReadonlyMap<number, Quota>,
  { budgets, open }: AccountState,
): ChargeCorrected['data']['budgets'] {
  const held = new Map<number, Quota>()
  for (const { facts, hold } of open.values()) {
    held.set(facts.tokenId, (held.get(facts.tokenId) ?? 0n) + hold)
  }
  return [...changes].flatMap(([tokenId, change]) => {
    const budget = isPlayground(tokenId) ? undefined : budgets.get(tokenId)
    if (budget === undefined) return []
    const highest = QUOTA_MAX - budget.remain - (held.get(tokenId) ?? 0n)
    const lowest = -QUOTA_MAX - budget.remain
    const limited = change > highest ? highest : change < lowest ? lowest : change
    return limited === 0n ? [] : [[tokenId, toWire(limited)] as const]
  })
}
