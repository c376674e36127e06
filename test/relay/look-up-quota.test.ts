import { describe, expect, it } from 'vitest'
import type { TokenUsage } from '#projections/tokens/query.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, TOKEN, USER } from './support/relay-rig.ts'

const USAGE: TokenUsage = {
  name: 'laptop',
  remain: 900_000n,
  held: 100_000n,
  used: 250_000n,
  isUnlimited: false,
  userBalance: 4_000_000n,
  userHeld: 0n,
  userUsed: 1_000_000n,
}
let usage: TokenUsage | null | Error = USAGE
const rig = startedForEach(() => {
  usage = USAGE
  return relayRig({
    usageOfToken: async (userId, tokenId) => {
      expect([userId, tokenId]).toEqual([USER, TOKEN])
      if (usage instanceof Error) throw usage
      return usage
    },
  })
})

async function get(path: string, key = `sk-${KEY}`, method = 'GET') {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${rig.url}${path}`, { method, headers })
  const { status, headers: received } = response
  return { status, caching: received.get('cache-control'), body: JSON.parse(await response.text()) }
}

const SUBSCRIPTION = '/v1/dashboard/billing/subscription'
const TOTAL = '/v1/dashboard/billing/usage'

describe('a key looks up its quota', () => {
  it.each([SUBSCRIPTION, TOTAL, '/api/usage/token', '/api/usage/token/'])(
    'at %s, in an answer that no cache keeps',
    async (path) => {
      expect((await get(path)).caching).toBe('no-store, private')
    },
  )

  it.each([SUBSCRIPTION, '/dashboard/billing/subscription'])('at %s', async (path) => {
    const { status, body } = await get(path)
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'billing_subscription',
      has_payment_method: true,
      soft_limit_usd: 2.5,
      hard_limit_usd: 2.5,
      system_hard_limit_usd: 2.5,
      access_until: 0,
    })
  })

  it.each([TOTAL, TOTAL.slice(3)])('and what it has used, in cents, at %s', async (path) => {
    expect((await get(path)).body).toEqual({ object: 'list', total_usage: 50 })
  })

  it.each([
    [597_210n, 119.442],
    [1n, 0.0002],
    [1_234_567_890_123n, 246_913_578.0246],
  ])('and what it has used, without the errors of floating point: %d', async (used, cents) => {
    usage = { ...USAGE, used }
    expect((await get(TOTAL)).body.total_usage).toBe(cents)
  })

  // Clients subtract the usage of such a span from the limit, and expect what is left.
  it.each([
    '',
    '?start_date=2026-11-01&end_date=2026-11-28',
    '?start_date=2024-02-29',
    '?end_date=2026-11-28',
    '?start_date=2026-12-01&end_date=2026-12-01',
  ])('so that the limit without the usage is what it has left: %s', async (query) => {
    const [limit, used] = [await get(SUBSCRIPTION), await get(`${TOTAL}${query}`)]
    expect(limit.body.hard_limit_usd - used.body.total_usage / 100).toBe(2)
  })

  it.each([
    ['start_date=x&end_date=y', 'start_date'],
    ['start_date=2026-13-45', 'start_date'],
    ['start_date=2026-02-30', 'start_date'],
    ['start_date=', 'start_date'],
    ['end_date=1764460800', 'end_date'],
    ['start_date=2026-11-28&end_date=2026-11-27', 'end_date'],
  ])('but not for the dates %s', async (query, param) => {
    const { status, body } = await get(`${TOTAL}?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })

  it('in quota units, if the site shows these', async () => {
    await rig.setOption('DisplayInCurrencyEnabled', 'false')
    expect((await get(SUBSCRIPTION)).body.hard_limit_usd).toBe(1_250_000)
    expect((await get(TOTAL)).body.total_usage).toBe(25_000_000)
  })

  it('in dollars of another number of units', async () => {
    await rig.setOption('QuotaPerUnit', '1000000')
    expect((await get(SUBSCRIPTION)).body.hard_limit_usd).toBe(1.25)
  })

  it('without a budget, which has the limit that clients know', async () => {
    usage = { ...USAGE, isUnlimited: true }
    expect((await get(SUBSCRIPTION)).body.hard_limit_usd).toBe(100_000_000)
  })

  it('which is the quota of its user, if the site does not show that of tokens', async () => {
    usage = { ...USAGE, isUnlimited: true }
    await rig.setOption('DisplayTokenStatEnabled', 'false')
    expect((await get(SUBSCRIPTION)).body.hard_limit_usd).toBe(10)
    expect((await get(TOTAL)).body.total_usage).toBe(200)
  })

  it('with its expiry and its models', async () => {
    const expiresAt = Math.floor(Date.now() / 1_000) + 3_600
    await rig.addToken(TOKEN, USER, `${KEY}x`, { expiresAt, models: ['a', 'b'] })
    expect((await get(SUBSCRIPTION, `sk-${KEY}x`)).body.access_until).toBe(expiresAt)
    for (const path of ['/api/usage/token', '/api/usage/token/']) {
      expect((await get(path, `sk-${KEY}x`)).body).toEqual({
        code: true,
        message: 'ok',
        data: {
          object: 'token_usage',
          name: 'laptop',
          total_granted: 1_250_000,
          total_used: 250_000,
          total_available: 1_000_000,
          unlimited_quota: false,
          model_limits: { a: true, b: true },
          model_limits_enabled: true,
          expires_at: expiresAt,
        },
      })
    }
  })

  it.each([
    ['a key without a budget', { isUnlimited: true, remain: -250_000n, held: 0n }, 250_000],
    ['a key with an earlier budget', { isUnlimited: true, remain: 900_000n, held: 0n }, 250_000],
    ['a key whose budget is overdrawn', { remain: -50_000n, held: 0n }, 200_000],
  ])('%s has nothing left, rather than less than nothing', async (_name, change, granted) => {
    usage = { ...USAGE, ...change }
    expect((await get('/api/usage/token')).body.data).toMatchObject({
      ...{ total_granted: granted, total_used: 250_000, total_available: 0 },
      unlimited_quota: usage.isUnlimited,
    })
  })

  it.each([SUBSCRIPTION, TOTAL, '/api/usage/token'])('but no other key at %s', async (path) => {
    expect((await get(path, 'sk-wrongwrongwrong')).status).toBe(401)
    expect((await get(path, `sk-${KEY}`, 'DELETE')).status).toBe(405)
  })

  it('and gets an error to retry while the quota can not be read', async () => {
    usage = new Error('no database')
    expect((await get(SUBSCRIPTION)).status).toBe(503)
    usage = null
    expect((await get(SUBSCRIPTION)).status).toBe(503)
  })
})
