import { describe, expect, it } from 'vitest'
import {
  addressLines,
  createTokenBody,
  expiryText,
  firstInvalidAddress,
  newToken,
  presetText,
  updateTokenBody,
  validateToken,
} from '#console/features/tokens/token-draft.ts'
import {
  toggledStatus,
  tokenState,
  usedPercent,
  withExpiredStatus,
} from '#console/features/tokens/token-status.ts'
import { chatAddress, chatLinks } from '#console/ui/chat-links/chat-links.ts'
import { maskedKey } from '#console/ui/elements/token-key.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import {
  amountOfQuota,
  amountUnitOf,
  isInvalidAmount,
  quotaOfAmount,
} from '#console/ui/quota/convert-entered-amount.ts'

const dollars = amountUnitOf(true, 500_000)

describe('token amounts', () => {
  it('convert from every quota to exact dollars and back', () => {
    for (const quota of [0n, 1n, 499_999n, 500_000n, 9_007_199_254_740_991n]) {
      expect(quotaOfAmount(amountOfQuota(quota, dollars), dollars)).toBe(quota)
    }
    expect(amountOfQuota(1n, dollars)).toBe('0.000002')
  })

  it('are rejected with fractions of a unit, with letters, and above the limit', () => {
    for (const text of ['0.000001', '', 'x', '-1', '18014398510']) {
      expect(quotaOfAmount(text, dollars), text).toBeNull()
    }
  })

  it('show an error while the user types, but not before the text is complete', () => {
    const at = (unit: typeof dollars) => (text: string) => isInvalidAmount(text, unit)
    expect(['', ' ', '1', '1.', '1.5'].map(at(dollars))).toEqual(Array(5).fill(false))
    expect(['x', '.', '1.x', '0.000001', '9'.repeat(20)].map(at(dollars))).not.toContain(false)
    expect(['7', '1.', '1.5'].map(at(amountUnitOf(false, 1)))).toEqual([false, true, true])
  })

  it('are typed in quota units when dollars cannot show the rate exactly', () => {
    expect(amountUnitOf(true, 300_000).isCurrency).toBe(false)
    expect(amountUnitOf(false, 500_000).isCurrency).toBe(false)
  })
})

describe('the token form', () => {
  const draft = { ...newToken(dollars), name: ' prod ' }

  it('starts with the defaults: $1, never expiring, 60 s, 1000 calls, 10 successes', () => {
    expect(validateToken(draft, dollars)).toEqual({})
    expect(createTokenBody(draft, dollars)).toMatchObject({
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

  it('shows each error at its field', () => {
    const wrong = {
      ...draft,
      name: ' ',
      amount: '1e',
      neverExpires: false,
      expiresAt: '2026-02-31T10:00',
      rateLimit: { ...draft.rateLimit, isEnabled: true, periodSeconds: '0' },
      hasModelLimits: true,
      allowIps: '10.0.0.1\n300.1.1.1',
      count: '101',
    }
    expect(validateToken(wrong, dollars)).toEqual({
      name: 'nameMissing',
      amount: 'amountInvalid',
      expiresAt: 'expiryInvalid',
      rateLimit: { periodSeconds: { key: 'wholeNumber', min: 1, max: 31_536_000 } },
      models: 'modelsMissing',
      allowIps: { key: 'ipInvalid', line: 2, address: '300.1.1.1' },
      count: { key: 'wholeNumber', min: 1, max: 100 },
    })
  })

  it('rejects a past expiry, unless an existing token already has it', () => {
    const past = { ...draft, neverExpires: false, expiresAt: '2020-01-01T00:00' }
    expect(validateToken(past, dollars)).toEqual({ expiresAt: 'expiryPast' })
    expect(validateToken({ ...past, expiresAt: '2920-01-01T00:00' }, dollars)).toEqual({})
    expect(validateToken(past, dollars, past.expiresAt)).toEqual({})
  })

  it('accepts IPv4 and IPv6 addresses and ranges', () => {
    const allowIps = '10.0.0.0/8\n ::1 \n2001:db8::/32\n\n127.0.0.1'
    expect(validateToken({ ...draft, allowIps }, dollars)).toEqual({})
    expect(createTokenBody({ ...draft, allowIps }, dollars).allow_ips?.split('\n')).toHaveLength(4)
  })

  it('sends only what changed, so that it does not restore quota used meanwhile', () => {
    const changed = (change: object, quota = 500_000) =>
      updateTokenBody(draft, { ...draft, ...change }, dollars, { quota, version: 3 })
    expect(changed({ name: 'other' })).toEqual({ name: 'other' })
    expect(changed({ amount: '1.00' })).toEqual({})
  })

  it('sends a changed quota with the budget that it showed', () => {
    const changed = (change: object, quota = 500_000) =>
      updateTokenBody(draft, { ...draft, ...change }, dollars, { quota, version: 3 })
    const sent = { remain_quota: 1_000_000, expected_remain_quota: 500_000, budget_version: 3 }
    expect(changed({ amount: '2' })).toEqual(sent)
    expect(changed({ amount: '2', name: 'other' })).toEqual({ ...sent, name: 'other' })
    // After a conflict, the form shows another quota than at first.
    expect(changed({ amount: '0.8' }, 400_000)).toEqual({})
    expect(changed({ amount: '1' }, 400_000)).toEqual({
      remain_quota: 500_000,
      expected_remain_quota: 400_000,
      budget_version: 3,
    })
    expect(changed({ amount: '2', isUnlimited: true })).toEqual({ unlimited_quota: true })
  })
})

describe('token keys', () => {
  it('are masked so that a whole key is never shown', () => {
    expect(maskedKey(`abc${'d'.repeat(40)}wxyz`)).toBe('sk-ab…wxyz')
    expect(maskedKey('short')).toBe('sk-…')
  })
})

describe('token expiry', () => {
  const now = new Date(2026, 10, 21, 7, 30)

  it('has presets that count from now, where a month is a calendar month', () => {
    expect(presetText('hour', now)).toBe('2026-11-21T08:30')
    expect(presetText('day', now)).toBe('2026-11-22T07:30')
    expect(presetText('month', now)).toBe('2026-12-21T07:30')
    expect(presetText('never', now)).toBe('')
  })

  it('reads back from its field as the same time', () => {
    const seconds = Math.floor(now.getTime() / 1000)
    expect(secondsOfDateField(expiryText(seconds))).toBe(seconds)
    expect(secondsOfDateField('tomorrow')).toBeNull()
  })
})

describe('token status', () => {
  it('is restricted for an enabled token with model limits; only 1 and 2 can be toggled', () => {
    expect(tokenState({ status: 1, model_limits_enabled: true })).toBe('restricted')
    expect(tokenState({ status: 9, model_limits_enabled: true })).toBe('unknown')
    expect([1, 2, 3, 4].map(toggledStatus)).toEqual([2, 1, null, null])
  })

  it('has a usage bar between 0 and 100 percent, also for an overdrawn budget', () => {
    expect(usedPercent({ used_quota: 0, remain_quota: 0 })).toBe(0)
    expect(usedPercent({ used_quota: 25, remain_quota: 75 })).toBe(25)
    expect(usedPercent({ used_quota: 10, remain_quota: -3 })).toBe(100)
  })
})

describe('a token with an expiry time', () => {
  it('is expired from that time on, unless it is disabled', () => {
    const token = { status: 1, expired_time: 100 }
    expect(withExpiredStatus(token, 99)).toEqual(token)
    expect(withExpiredStatus(token, 100).status).toBe(3)
    expect(withExpiredStatus({ ...token, status: 4 }, 101).status).toBe(3)
    expect(withExpiredStatus({ ...token, status: 2 }, 101).status).toBe(2)
    expect(withExpiredStatus({ ...token, expired_time: -1 }, 101).status).toBe(1)
  })
})

describe('IP addresses', () => {
  it('are validated line by line', () => {
    const good = '10.0.0.1\n\n192.0.2.0/24\n ::1 \n2001:db8::/32\n::ffff:10.0.0.1'
    expect(firstInvalidAddress(good)).toBeNull()
    expect(addressLines(good)).toHaveLength(5)
    for (const wrong of [
      '10.0.0.256',
      '10.0.0',
      '10.0.0.1.2',
      '10.0.0.0/33',
      ':::',
      '2001:db8::/129',
    ]) {
      expect(firstInvalidAddress(`10.0.0.1\n${wrong}`), wrong).toEqual({ line: 2, address: wrong })
    }
    for (const wrong of ['fe80::1%eth0', 'example.com', '::1/x', '1.2.3.4/', '[::1]']) {
      expect(firstInvalidAddress(wrong), wrong).toEqual({ line: 1, address: wrong })
    }
  })
})

describe('chat links', () => {
  it('contain the site address and the key, both escaped', () => {
    const template = 'https://chat.example/#/?settings={"key":"{key}","url":"{address}"}'
    expect(chatAddress(template, 'https://api.example:8443/', 'sk-a b')).toBe(
      'https://chat.example/#/?settings={"key":"sk-a%20b","url":"https%3A%2F%2Fapi.example%3A8443"}',
    )
    expect(chatAddress('opencat://team/join?token={key}', 'https://a', 'sk-1')).toContain('sk-1')
  })

  it('are rejected when they are no links or would run a script', () => {
    for (const template of [
      '',
      'chat',
      '/chat?{key}',
      'javascript:alert("{key}")',
      ' data:x,{key}',
      'java\nscript:alert("{key}")',
      'about:blank#{key}',
      'BLOB:https://a/{key}',
    ]) {
      expect(chatAddress(template, 'https://a', 'sk-1'), template).toBeNull()
    }
  })

  it('keep their order, whatever their names are', () => {
    const chats: Record<string, string>[] = [
      { A: 'https://a' },
      { constructor: 'https://b', C: 'https://c' },
    ]
    expect(chatLinks(chats).map(({ name }) => name)).toEqual(['A', 'constructor', 'C'])
  })
})
