import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditLog } from '#projections/audit-log/projection.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Events that are no administrative or security acts, with the reason. */
const NO_ACTS = {
  'calls of the relay, which the ledger and the usage log show': [
    ...['CallAdmitted', 'HoldRaised', 'CallProgressed', 'CallSettled', 'CallReleased'],
    ...['CallInterrupted', 'BatchSubmitted', 'BatchAccepted', 'BatchLinesBilled', 'BatchEnded'],
    ...['TaskSubmitted', 'TaskAccepted', 'TaskUnconfirmed', 'TaskStatusChanged', 'TaskSucceeded'],
    ...['TaskFailed', 'TaskDeleted'],
  ],
  'movements of a user’s own quota, which the ledger shows': [
    ...['InviteRewarded', 'AffiliateTransferred', 'CheckedIn', 'CodeRedeemed'],
  ],
  'consequences of an act in the log, most of them in the same append': [
    ...['TopUpCredited', 'TopUpReversed', 'RebateEarned', 'RebateReversed', 'ChargeCorrected'],
    ...['TokenBudgetClosed', 'TokenBudgetsClosed', 'UsernameClaimed', 'UsernameReleased'],
    ...['IdentityClaimed', 'IdentityReleased', 'TokenIdsTaken', 'RedemptionIdsTaken'],
    ...['InvoiceRequestsRecorded', 'PasskeyUsed', 'TotpStepUsed'],
  ],
  'observations of the site, which change no terms': [
    ...['ChannelTested', 'ChannelTestRunStarted', 'ChannelTestRunEnded', 'ChannelBalanceRead'],
    ...['CircuitOpened', 'CircuitHalfOpened', 'QuotaWarned', 'MessageRead'],
  ],
}

const DECLARED = /Fact<\s*\|?((?:\s*'[A-Za-z]+'\s*\|?)+)/g
const PLAINLY_DECLARED = /\bFact<\s*\|?((?:\s*'[A-Za-z]+'\s*\|?)+)/g

/** The types of all events in the domain, as their declarations name them. */
function eventTypes(): readonly string[] {
  const types = new Set<string>()
  for (const path of globSync('domain/**/*.ts', { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    // Only the files of events have types with another name, such as `TokensFact`, for events.
    const declared = path.endsWith('events.ts') ? DECLARED : PLAINLY_DECLARED
    for (const [, names = ''] of text.matchAll(declared)) {
      for (const [, name = ''] of names.matchAll(/'([A-Za-z]+)'/g)) types.add(name)
    }
  }
  return [...types].sort()
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
