import { CORRECTIONS_STREAM } from '../corrections/events.ts'
import type { Recorded } from '../shared/event.ts'
import { accountOwner, checkGrant, checkPostings, checkTrialBalance } from './check-accounts.ts'
import { checkBatch, checkCall, checkLeases } from './check-calls.ts'
import { rememberCorrection } from './check-corrections.ts'
import { checkOrder, checkRedemption, matchCredit } from './check-orders-and-codes.ts'
import { safeReasonOf } from './finding-texts.ts'
import type { Findings } from './findings.ts'
import { reportUnmatchedMovements } from './match-source-and-account-events.ts'
import { type AuditState, isPartial } from './state.ts'

/**
 * Applies the next event of the store to `state`, and reports every rule that the event breaks.
 * Events must be passed in the order of their positions. An event whose data has an unexpected
 * shape is reported and never causes an exception.
 */
export function applyToAudit(state: AuditState, event: Recorded, findings: Findings): void {
  checkPlace(state, event, findings)
  state.lastAt = Math.max(state.lastAt, event.meta.at)
  findings.checked('records')
  try {
    checkPostings(state, event, findings)
    checkRules(state, event, findings)
  } catch (error) {
    const { type } = event
    const field = invalidFieldOf(event)
    if (field !== null) findings.report('records', event, 'FieldInvalid', { type, field })
    else findings.report('records', event, 'DataInvalid', { type, reason: safeReasonOf(error) })
  }
}

function checkPlace(state: AuditState, event: Recorded, findings: Findings): void {
  const { position, stream, revision } = event
  const next = state.position + 1
  const isNext = state.arePositionsDense ? position === next : position >= next
  findings.expect('positions', isNext, event, 'PositionNotNext', () => ({ last: state.position }))
  state.position = position
  const last = state.revisions.get(stream)
  if (last === undefined) {
    findings.expect('revisions', revision === 0 || isPartial(state), event, 'RevisionNotFirst')
  } else
    findings.expect('revisions', revision === last + 1, event, 'RevisionNotNext', () => ({ last }))
  state.revisions.set(stream, revision)
}

function checkRules(state: AuditState, event: Recorded, findings: Findings): void {
  const { type, stream } = event
  if (accountOwner(stream) !== null) {
    checkGrant(state, event, findings)
    if (CREDITS.has(type)) matchCredit(state, event, findings)
    checkCall(state, event, findings)
  } else if (stream === CORRECTIONS_STREAM) rememberCorrection(state, event)
  else if (stream.startsWith('batch-')) checkBatch(state, event, findings)
  else if (stream.startsWith('redemption-')) checkRedemption(state, event, findings)
  else if (stream.startsWith('top-up-')) checkOrder(state, event, findings)
}

const CREDITS: ReadonlySet<string> = new Set([
  'QuotaGranted',
  'TopUpCredited',
  'TopUpReversed',
  'RebateEarned',
  'RebateReversed',
])

type FinishOptions = {
  /** The time since which the site has been running, in Unix milliseconds. Omitted if unknown. */
  readonly runningSince?: number
}

/**
 * Checks the rules that apply only after the last event. All ledger accounts must add up to 0, no
 * lease may be overdue, and no event of a movement of quota may be missing (see `matchMovement`).
 * The state is not changed, so that later events can still be applied.
 */
export function finishAudit(
  state: AuditState,
  findings: Findings,
  { runningSince = 0 }: FinishOptions = {},
): void {
  checkTrialBalance(state, findings)
  checkLeases(state, findings, runningSince)
  reportUnmatchedMovements(state, findings)
}

type Shape = (value: unknown) => boolean

const isInteger: Shape = Number.isSafeInteger
const isText: Shape = (value) => typeof value === 'string'
const isObject: Shape = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isPosting: Shape = (value) =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isInteger(value[1])
const isListOf =
  (isItem: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(isItem)

/**
 * The shapes of fields that the audit reads. Each of these fields has the same shape in all events.
 */
const SHAPES: Readonly<Record<string, Shape>> = {
  ...{ postings: isListOf(isPosting), userId: isInteger, tokenId: isInteger, orderId: isInteger },
  ...{ amount: (value: unknown) => typeof value === 'number', reward: isInteger },
  ...{ hold: isInteger, added: isInteger, charge: isInteger, fromBalance: isInteger },
  ...{ call: isText, usage: isObject, price: isObject, leaseUntil: isInteger },
}

/** The fields that the audit needs in an event, by the event's type. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  QuotaGranted: ['amount', 'grantId'],
  QuotaDeducted: ['amount', 'deductionId'],
  InviteRewarded: ['reward'],
  AffiliateTransferred: ['amount'],
  TopUpCredited: ['amount'],
  TopUpReversed: ['amount'],
  RebateEarned: ['amount'],
  RebateReversed: ['amount'],
  CallAdmitted: ['call', 'hold', 'price'],
  HoldRaised: ['call', 'added'],
  CallProgressed: ['call', 'usage'],
  CallSettled: ['call', 'hold', 'charge', 'usage', 'price'],
  CallReleased: ['call', 'hold'],
  CallInterrupted: ['call', 'hold', 'charge', 'usage', 'price'],
  ChargeCorrected: ['calls'],
}

/**
 * Returns the name of the first known field of an event's data that is missing or has an unexpected
 * shape, or null. The value is not returned, because a damaged field may contain personal data or a
 * secret.
 */
function invalidFieldOf({ type, data }: Pick<Recorded, 'type' | 'data'>): string | null {
  const fields = data as Readonly<Record<string, unknown>>
  const required = Object.hasOwn(REQUIRED, type) ? (REQUIRED[type] ?? []) : []
  const missing = required.find((name) => fields[name] === undefined || fields[name] === null)
  if (missing !== undefined) return missing
  const checkedFields = Object.entries(SHAPES).filter(([name]) => fields[name] !== undefined)
  return checkedFields.find(([name, isRight]) => !isRight(fields[name]))?.[0] ?? null
}
