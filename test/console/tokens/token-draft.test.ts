import { describe, expect, it } from 'vitest'
import {
  amountOfQuota,
  amountUnitOf,
  quotaOfAmount,
} from '#console/features/tokens/quota-amount.ts'
import {
  changedTerms,
  newToken,
  termsOfDraft,
  tokenFaults,
} from '#console/features/tokens/token-draft.ts'
import { expirySeconds, expiryText, presetText } from '#console/features/tokens/token-expiry.ts'
import { batchNames, maskedKey } from '#console/features/tokens/token-key.ts'
import { toggledStatus, tokenState, usedPercent } from '#console/features/tokens/token-status.ts'

const dollars = amountUnitOf(true, 500_000)

describe('amounts', () => {
  it('every quota is an exact amount of dollars and back', () => {
    for (const quota of [0n, 1n, 499_999n, 500_000n, 9_007_199_254_740_991n]) {
      expect(quotaOfAmount(amountOfQuota(quota, dollars), dollars)).toBe(quota)
    }
    expect(amountOfQuota(1n, dollars)).toBe('0.000002')
  })

  it('fractions of a unit, words and more than the wire carries are refused', () => {
    for (const text of ['0.000001', '', 'x', '-1', '18014398510']) {
      expect(quotaOfAmount(text, dollars), text).toBeNull()
    }
  })

  it('a rate that dollars cannot show exactly is typed in quota units', () => {
    expect(amountUnitOf(true, 300_000).isCurrency).toBe(false)
    expect(amountUnitOf(false, 500_000).isCurrency).toBe(false)
  })
})

describe('the token form', () => {
  const draft = { ...newToken(dollars, ''), name: ' prod ' }

  it('starts with the defaults: $1, never expiring, 60 s, 1000 calls, 10 successes', () => {
    expect(tokenFaults(draft, dollars)).toEqual({})
    expect(termsOfDraft(draft, dollars)).toMatchObject({
      name: 'prod',
      remain_quota: 500_000,
      unlimited_quota: false,
      expired_time: -1,
      rate_limit_enabled: false,
      rate_limit_period: 60,
      rate_limit_count: 1000,
      rate_limit_success: 10,
    })
  })

  it('names each fault at its field', () => {
    const wrong = {
      ...draft,
      name: ' ',
      amount: '1e',
      neverExpires: false,
      expiresAt: '2026-02-31T10:00',
      hasRateLimit: true,
      ratePeriod: '0',
      hasModelLimits: true,
      allowIps: '10.0.0.1\n300.1.1.1',
      count: '101',
    }
    expect(tokenFaults(wrong, dollars)).toEqual({
      name: 'nameMissing',
      amount: 'amountWrong',
      expiresAt: 'expiryWrong',
      ratePeriod: 'numberWrong',
      models: 'modelsMissing',
      allowIps: 'ipWrong',
      count: 'countWrong',
    })
  })

  it('takes addresses and ranges of both families', () => {
    const allowIps = '10.0.0.0/8\n ::1 \n2001:db8::/32\n\n127.0.0.1'
    expect(tokenFaults({ ...draft, allowIps }, dollars)).toEqual({})
    expect(termsOfDraft({ ...draft, allowIps }, dollars).allow_ips?.split('\n')).toHaveLength(4)
  })

  it('an edit sends only what changed, so that quota used meanwhile is not given back', () => {
    expect(changedTerms(draft, { ...draft, name: 'other' }, dollars)).toEqual({ name: 'other' })
    expect(changedTerms(draft, { ...draft, amount: '1.00' }, dollars)).toEqual({})
  })
})

describe('keys and names', () => {
  it('the mask never shows a whole key', () => {
    expect(maskedKey(`abc${'d'.repeat(40)}wxyz`)).toBe('sk-abc…wxyz')
    expect(maskedKey('short')).toBe('sk-…')
  })

  it('further tokens of a batch get six random letters or digits', () => {
    const names = batchNames('ci', 3)
    expect(names[0]).toBe('ci')
    for (const name of names.slice(1)) expect(name).toMatch(/^ci-[A-Za-z0-9]{6}$/)
    expect(new Set(names).size).toBe(3)
  })
})

describe('expiry', () => {
  const now = new Date(2026, 10, 21, 7, 30)

  it('presets count from now; a month is a month of the calendar', () => {
    expect(presetText('hour', now)).toBe('2026-11-21T08:30')
    expect(presetText('day', now)).toBe('2026-11-22T07:30')
    expect(presetText('month', now)).toBe('2026-12-21T07:30')
    expect(presetText('never', now)).toBe('')
  })

  it('what a field shows reads back as the same moment', () => {
    const seconds = Math.floor(now.getTime() / 1000)
    expect(expirySeconds(expiryText(seconds))).toBe(seconds)
    expect(expirySeconds('tomorrow')).toBeNull()
  })
})

describe('status', () => {
  it('an enabled token with model limits is restricted; only 1 and 2 toggle', () => {
    expect(tokenState({ status: 1, model_limits_enabled: true })).toBe('restricted')
    expect(tokenState({ status: 9, model_limits_enabled: true })).toBe('unknown')
    expect([1, 2, 3, 4].map(toggledStatus)).toEqual([2, 1, null, null])
  })

  it('the bar stays within its ends, overdrawn budgets too', () => {
    expect(usedPercent({ used_quota: 0, remain_quota: 0 })).toBe(0)
    expect(usedPercent({ used_quota: 25, remain_quota: 75 })).toBe(25)
    expect(usedPercent({ used_quota: 10, remain_quota: -3 })).toBe(100)
  })
})
