import { CORRECTIONS_STREAM } from '../corrections/events.ts'
import type { Recorded } from '../shared/event.ts'
import { accountOwner, checkGrant, checkPostings, checkTrialBalance } from './check-accounts.ts'
import { checkBatch, checkCall, checkLeases } from './check-calls.ts'
import { rememberCorrection } from './check-corrections.ts'
import { checkOrder, checkRedemption, matchCredit } from './check-orders-and-codes.ts'
import { safeReasonOf } from './finding-texts.ts'
import type { Findings } from './findings.ts'
import { reportUnmatchedMovements } from './match-movements.ts'
import { invalidFieldOf } from './name-invalid-field.ts'
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
  /**
   * The time since which the site has been running, in Unix milliseconds. Omitted if it is unknown.
   */
  readonly runningSince?: number
}

/**
 * Checks the rules that apply only after the last event: all ledger accounts add up to 0, no lease
 * is overdue, and each movement of quota has both of its events. The state is not changed, so that
 * later events can still be applied.
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
