import type { AccountEvent, Posting } from '../accounts/events.ts'
import type { Recorded } from '../shared/event.ts'
import { fromWire, type Quota } from '../shared/quota.ts'
import type { BalanceName } from './finding-texts/names-in-finding-texts.ts'
import type { CodedFinding } from './finding-texts.ts'
import type { Findings } from './findings.ts'
import { addId } from './fingerprint-table.ts'
import { type AuditState, type Balances, isPartial } from './state.ts'

const ACCOUNT_PREFIX = 'account-'

/**
 * The amounts that an event adds to the balance, the holds, the affiliate balance and the revenue.
 */
type Moves = { main: Quota; held: Quota; affiliate: Quota; revenue: Quota }

/** Returns the id of the user to whom an account stream belongs, or null for any other stream. */
export function accountOwner(stream: string): number | null {
  if (!stream.startsWith(ACCOUNT_PREFIX)) return null
  const userId = Number(stream.slice(ACCOUNT_PREFIX.length))
  return Number.isSafeInteger(userId) && userId > 0 ? userId : null
}

/**
 * Checks the postings of an event. Each posting says how much quota the event adds to a ledger
 * account. The sum of the postings must be 0. The ledger accounts and amounts must match the other
 * fields of the event. The function also compares the balances in the event with the computed
 * balances.
 */
export function checkPostings(state: AuditState, event: Recorded, findings: Findings): void {
  const { postings } = event.data as { postings?: readonly Posting[] }
  const owner = accountOwner(event.stream)
  const { faults, moves } = examinePostings(event)
  if (postings !== undefined) findings.checked('postings', owner === null ? 2 : 4)
  for (const fault of faults) findings.reportCoded('postings', event, fault)
  if (postings === undefined) return
  for (const [account, amount] of postings) {
    if (account.startsWith('user:')) continue
    state.siteAccounts.set(account, (state.siteAccounts.get(account) ?? 0n) + fromWire(amount))
  }
  if (owner === null) return
  addMoves(state, event, balancesOf(state, owner), moves, findings)
}

/**
 * Returns the faults of the postings of one event. An event of an account must have postings if its
 * type moves quota. No other event may have postings. The sum of the postings must be 0. The ledger
 * accounts and amounts of the postings must match the type, the owner and the amounts of the event.
 */
export const postingFaults = (event: Recorded): readonly CodedFinding[] =>
  examinePostings(event).faults

type Postings = { readonly faults: readonly CodedFinding[]; readonly moves: Moves }

function examinePostings(event: Recorded): Postings {
  const { type } = event
  const data = event.data as { postings?: readonly Posting[]; userId?: unknown }
  const owner = accountOwner(event.stream)
  if (data.postings === undefined) {
    const mustMove = owner !== null && QUOTA_MOVING_TYPES.has(type)
    const missing = { code: 'PostingsMissing', params: { type } } as const
    return { faults: mustMove ? [missing] : [], moves: NONE }
  }
  const faults: CodedFinding[] = []
  const ruleFault = quotaRuleFault(event)
  if (ruleFault !== null) faults.push(ruleFault)
  const { moves, sum, foreignAccounts } = sumPostings(data.postings, owner)
  for (const account of foreignAccounts) {
    // A name of another form is damaged data, which is not repeated in a finding.
    const isUser = /^user:\d{1,16}:(main|held|aff)$/.test(account)
    if (isUser) faults.push({ code: 'PostsElsewhere', params: { account } })
    else faults.push({ code: 'PostingAccountUnknown', params: {} })
  }
  if (sum !== 0n) faults.push({ code: 'PostingsUnbalanced', params: { sum } })
  if (owner === null) return { faults, moves }
  if (data.userId !== owner) {
    const userId = Number.isSafeInteger(data.userId) ? String(data.userId) : '?'
    faults.push({ code: 'OwnerDiffers', params: { userId } })
  }
  const expected = movesOf(event as Recorded<AccountEvent>)
  if (expected !== null && !isEqual(moves, expected)) {
    faults.push({ code: 'PostingsDiffer', params: {} })
  }
  return { faults, moves }
}

/** The types of events that move quota. No other event may have postings. */
const QUOTA_MOVING_TYPES: ReadonlySet<string> = new Set([
  'QuotaGranted',
  'QuotaDeducted',
  'InviteRewarded',
  'AffiliateTransferred',
  'CheckedIn',
  'TopUpCredited',
  'TopUpReversed',
  'RebateEarned',
  'RebateReversed',
  'CallAdmitted',
  'HoldRaised',
  'CallSettled',
  'CallReleased',
  'CallInterrupted',
  'ChargeCorrected',
])

/**
 * The fields with amounts that must not be negative. The type of an event determines whether it
 * adds or deducts its amount.
 */
const AMOUNTS = ['amount', 'reward', 'hold', 'added', 'charge', 'fromBalance'] as const

/**
 * Returns a fault if an event has postings although its stream or type may not move quota, or if an
 * amount is negative. Returns null if there is no such fault. A grant of a negative amount would be
 * a debit that appears in no list of movements.
 */
function quotaRuleFault({
  stream,
  type,
  data,
}: Pick<Recorded, 'stream' | 'type' | 'data'>): CodedFinding | null {
  const fields = data as Readonly<Record<string, unknown>>
  if (fields.postings === undefined) return null
  if (accountOwner(stream) === null || !QUOTA_MOVING_TYPES.has(type)) {
    return { code: 'PostingsUnexpected', params: { type } }
  }
  // The amount of a correction is the sum of the new charges minus the old charges, so a refund is
  // negative.
  if (type === 'ChargeCorrected') return null
  for (const field of AMOUNTS) {
    const amount = fields[field]
    if (typeof amount === 'number' && amount < 0) {
      return { code: 'AmountNegative', params: { type, field, amount } }
    }
  }
  return null
}

/** Adds up postings. `foreignAccounts` contains the ledger accounts of users other than `owner`. */
function sumPostings(postings: readonly Posting[], owner: number | null) {
  const moves: Moves = { main: 0n, held: 0n, affiliate: 0n, revenue: 0n }
  const foreignAccounts: string[] = []
  const prefix = owner === null ? null : `user:${owner}:`
  let sum = 0n
  for (const [account, wire] of postings) {
    const amount = fromWire(wire)
    sum += amount
    if (!account.startsWith('user:')) {
      if (account === 'revenue') moves.revenue += amount
      continue
    }
    const pocket = prefix !== null && account.startsWith(prefix) && account.slice(prefix.length)
    if (pocket === 'main') moves.main += amount
    else if (pocket === 'held') moves.held += amount
    else if (pocket === 'aff') moves.affiliate += amount
    else foreignAccounts.push(account)
  }
  return { moves, sum, foreignAccounts }
}

export function balancesOf(state: AuditState, userId: number): Balances {
  const existing = state.balances.get(userId)
  if (existing !== undefined) return existing
  const opening = isPartial(state) ? null : 0n
  const balances = { main: opening, held: opening, affiliate: 0n, checkInDay: '' }
  state.balances.set(userId, balances)
  return balances
}

function addMoves(
  state: AuditState,
  event: Recorded,
  balances: Balances,
  moves: Moves,
  findings: Findings,
): void {
  balances.affiliate += moves.affiliate
  if (balances.main !== null) balances.main += moves.main
  if (balances.held !== null) balances.held += moves.held
  const { balanceAfter, heldAfter } = event.data as { balanceAfter?: number; heldAfter?: number }
  balances.main = compare('balance', balances.main, balanceAfter, event, findings)
  balances.held = compare('held', balances.held, heldAfter, event, findings)
  const { held } = balances
  if (held !== null && held < 0n) {
    findings.report('running-balances', event, 'HeldNegative', { held })
  }
  if (isPartial(state)) return
  if (balances.affiliate < 0n) {
    const rewards = balances.affiliate
    findings.report('running-balances', event, 'RewardsNegative', { rewards })
  }
}

/**
 * Compares a recorded balance with the computed balance (`folded`) and reports a difference.
 * Returns the balance with which the audit continues. Normally, this is the computed balance, so
 * that one wrong record is reported only once. If no balance could be computed yet, it is the
 * recorded balance.
 */
function compare(
  name: BalanceName,
  folded: Quota | null,
  recorded: number | undefined,
  event: Recorded,
  findings: Findings,
): Quota | null {
  if (recorded === undefined) return folded
  const balance = fromWire(recorded)
  if (folded === null) return balance
  findings.expect('running-balances', balance === folded, event, 'BalanceDiffers', () => {
    return { balance: name, recorded: balance, expected: folded }
  })
  return folded
}

const isEqual = (moves: Moves, expected: Moves): boolean =>
  moves.main === expected.main &&
  moves.held === expected.held &&
  moves.affiliate === expected.affiliate &&
  moves.revenue === expected.revenue

const NONE: Moves = { main: 0n, held: 0n, affiliate: 0n, revenue: 0n }

/**
 * Returns the amounts that the event must move, according to its fields. Returns null for an
 * unknown type.
 */
function movesOf(event: Recorded<AccountEvent>): Moves | null {
  switch (event.type) {
    case 'QuotaGranted':
    case 'CheckedIn':
    case 'TopUpCredited':
      return { ...NONE, main: fromWire(event.data.amount) }
    case 'QuotaDeducted':
    case 'TopUpReversed':
      return { ...NONE, main: -fromWire(event.data.amount) }
    case 'InviteRewarded':
      return { ...NONE, affiliate: fromWire(event.data.reward) }
    case 'RebateEarned':
      return { ...NONE, affiliate: fromWire(event.data.amount) }
    case 'AffiliateTransferred': {
      const amount = fromWire(event.data.amount)
      return { ...NONE, main: amount, affiliate: -amount }
    }
    case 'RebateReversed': {
      const fromBalance = fromWire(event.data.fromBalance ?? 0)
      return { ...NONE, main: -fromBalance, affiliate: fromBalance - fromWire(event.data.amount) }
    }
    case 'CallAdmitted':
      return movesOfHold(fromWire(event.data.hold))
    case 'HoldRaised':
      return movesOfHold(fromWire(event.data.added))
    case 'CallSettled':
    case 'CallInterrupted':
      return movesOfEnd(fromWire(event.data.hold), fromWire(event.data.charge))
    case 'CallReleased':
      return movesOfEnd(fromWire(event.data.hold), 0n)
    case 'ChargeCorrected': {
      let amount = 0n
      for (const { charge, corrected } of event.data.calls) {
        amount += fromWire(corrected) - fromWire(charge)
      }
      return { ...NONE, main: -amount, revenue: amount }
    }
    default:
      return null
  }
}

const movesOfHold = (hold: Quota): Moves => ({ ...NONE, main: -hold, held: hold })
const movesOfEnd = (hold: Quota, charge: Quota): Moves => ({
  ...NONE,
  main: hold - charge,
  held: -hold,
  revenue: charge,
})

/**
 * Checks that each change of a balance that has an id, such as a grant, a refund or a correction,
 * is recorded only once, and that each check-in is on a later day than the user's previous one.
 */
export function checkGrant(state: AuditState, event: Recorded, findings: Findings): void {
  const id = grantIdOf(event as Recorded<AccountEvent>)
  if (id !== null) {
    const isNew = addId(state.grantIds, `${event.stream} ${id}`)
    findings.expect('grants', isNew, event, 'GrantRepeated', () => ({ grant: id }))
  }
  if (event.type !== 'CheckedIn') return
  const { userId, day } = event.data as { userId: number; day: string }
  const balances = balancesOf(state, userId)
  const isLater = day > balances.checkInDay
  findings.expect('grants', isLater, event, 'CheckInRepeated', () => ({ day }))
  balances.checkInDay = day
}

function grantIdOf(event: Recorded<AccountEvent>): string | null {
  switch (event.type) {
    case 'QuotaGranted':
      return `grant ${event.data.grantId}`
    case 'QuotaDeducted':
      return `deduction ${event.data.deductionId}`
    case 'AffiliateTransferred':
      return `transfer ${event.data.transferId}`
    case 'InviteRewarded':
      return `invitation ${event.data.inviteeId}`
    case 'TopUpCredited':
      return `credit of order ${event.data.orderId} ${event.data.restoreNo ?? ''}`
    case 'TopUpReversed':
      return `refund ${event.data.refundNo} of order ${event.data.orderId}`
    case 'RebateEarned':
      return `rebate of order ${event.data.orderId} ${event.data.restoreNo ?? ''}`
    case 'RebateReversed':
      return `returned rebate ${event.data.refundNo} of order ${event.data.orderId}`
    case 'ChargeCorrected':
      return `correction ${event.data.correctionId} ${event.data.batch}`
    default:
      return null
  }
}

/**
 * Checks that the balances of all ledger accounts add up to 0. Does nothing if the audit began
 * after the first event, because the opening balances are then unknown.
 */
export function checkTrialBalance(state: AuditState, findings: Findings): void {
  if (isPartial(state)) return
  let sum = 0n
  for (const amount of state.siteAccounts.values()) sum += amount
  for (const { main, held, affiliate } of state.balances.values()) {
    sum += (main ?? 0n) + (held ?? 0n) + affiliate
  }
  findings.expect('trial-balance', sum === 0n, null, 'TrialBalanceNotZero', () => ({ sum }))
}
