import { describe, expect, it } from 'vitest'
import { auditLog } from '#projections/audit-log/projection.ts'
import { eventTypes } from '#test/support/event-types.ts'

/** Events that are no administrative or security acts, with the reason. */
const NO_ACTS = {
  'calls of the relay, which the ledger and the usage log show': [
    ...['CallAdmitted', 'HoldRaised', 'CallProgressed', 'CallSettled', 'CallReleased'],
    ...['CallInterrupted', 'BatchSubmitted', 'BatchRouted', 'BatchAccepted', 'BatchLinesBilled'],
    'BatchEnded',
    ...[
      'TaskRouted',
      'TaskSubmitted',
      'TaskAccepted',
      'TaskUnconfirmed',
      'TaskStatusChanged',
      'TaskSucceeded',
    ],
    ...['TaskFailed', 'TaskDeleted'],
  ],
  'movements of a user’s own quota, which the ledger shows': [
    ...['InviteRewarded', 'AffiliateTransferred', 'CheckedIn', 'CodeRedeemed'],
  ],
  'consequences of an act in the log, most of them in the same append': [
    ...['TopUpCredited', 'TopUpReversed', 'RebateEarned', 'RebateReversed', 'ChargeCorrected'],
    ...['TokenBudgetClosed', 'TokenBudgetsClosed', 'UsernameClaimed', 'UsernameReleased'],
    ...['IdentityClaimed', 'IdentityReleased', 'TokenIdsTaken', 'RedemptionIdsTaken'],
    ...['InvoiceRequestsRecorded', 'InvoiceRequestsDeleted', 'PasskeyUsed', 'TotpStepUsed'],
  ],
  'steps before an act in the log, which change no terms': [
    ...['ChannelSubmissionsPaused', 'ChannelSubmissionsResumed'],
  ],
  'observations of the site, which change no terms': [
    ...['ChannelTested', 'ChannelTestRunStarted', 'ChannelTestRunEnded', 'ChannelBalanceRead'],
    ...['CircuitOpened', 'CircuitHalfOpened', 'QuotaWarned', 'MessageRead'],
  ],
}

describe('the audit log', () => {
  const types = eventTypes()
  const logged = new Set<string>(auditLog.handlers.keys())
  const unlogged = Object.values(NO_ACTS).flat()

  it('has every event of the domain that is not named here with a reason', () => {
    expect(types.length).toBeGreaterThan(110)
    const missing = types.filter((type) => !logged.has(type) && !unlogged.includes(type))
    expect(missing, 'add a handler to projections/audit-log, or a reason above').toEqual([])
  })

  it('has no event that is named here, and no event that does not exist', () => {
    expect(unlogged.filter((type) => logged.has(type) || !types.includes(type))).toEqual([])
    expect([...logged].filter((type) => !types.includes(type))).toEqual([])
    expect(new Set(unlogged).size).toBe(unlogged.length)
  })
})
