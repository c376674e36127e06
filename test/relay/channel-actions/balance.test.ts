import { describe, expect, it } from 'vitest'
import { channelChecksStream } from '#domain/channel-checks/events.ts'
import { OPTIONS_STREAM } from '#domain/options/events.ts'
import type { BalanceUpdate } from '#read-api/contract/channel-actions.ts'
import { PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { setOption } from '#test/support/test-product.ts'
import { actionsSite, SECRET } from '../support/channel-actions-site.ts'
import type { Scripted } from '../support/scripted-provider.ts'

const site = startedOnce(actionsSite)

const SUBSCRIPTION = 'GET /v1/dashboard/billing/subscription'
const USAGE = 'GET /v1/dashboard/billing/usage'
const GRANTS = 'GET /dashboard/billing/credit_grants'

const recorded = async (id: number): Promise<unknown[]> => {
  const events = await site.product.running.core.store.readStream(channelChecksStream(id))
  return events.map(({ type, data }) => [type, data])
}

/** Per type that tells its balance: what it answers, and the dollars that it means. */
const TYPES: readonly (readonly [number, Readonly<Record<string, Scripted>>, string])[] = [
  [
    1,
    {
      [SUBSCRIPTION]: { body: '{"hard_limit_usd":120.1}' },
      [USAGE]: { body: '{"total_usage":1234.5}' },
    },
    '107.755',
  ],
  [
    8,
    { [SUBSCRIPTION]: { body: '{"hard_limit_usd":1}' }, [USAGE]: { body: '{"total_usage":150}' } },
    '-0.5',
  ],
  [
    10,
    { 'GET /api/report/getUserOverview': { body: '{"success":true,"data":{"totalPoints":7.25}}' } },
    '7.25',
  ],
  [12, { [GRANTS]: { body: '{"total_remaining":0.1}' } }, '0.1'],
  [13, { [GRANTS]: { body: '{"total_available":3}' } }, '3'],
  [20, { 'GET /v1/credits': { body: '{"data":{"total_credits":0.3,"total_usage":0.1}}' } }, '0.2'],
  [
    25,
    { 'GET /v1/users/me/balance': { body: '{"code":0,"data":{"available_balance":-1.5}}' } },
    '-1.5',
  ],
  [
    40,
    { 'GET /v1/user/info': { body: '{"data":{"totalBalance":"88.0000000001"}}' } },
    '88.0000000001',
  ],
  [
    43,
    {
      'GET /user/balance': {
        body: '{"balance_infos":[{"currency":"CNY","total_balance":"110.00"}]}',
      },
    },
    '15.068493',
  ],
]

describe('GET /api/channel/update_balance/{id}/', () => {
  it('is offered for exactly the types that report a balance', () => {
    const told = PROFILES.filter(({ balance }) => balance !== undefined).map(({ id }) => id)
    expect(told.toSorted((one, other) => one - other)).toEqual(TYPES.map(([id]) => id))
  })

  it.each(TYPES)('reads type %i’s exact balance in dollars', async (type, answers, expected) => {
    for (const [call, answer] of Object.entries(answers)) site.scripted.answers.set(call, answer)
    const id = await site.channel({ type })
    const answer = await site.ask<{ balance: number }>(`/api/channel/update_balance/${id}/`)
    expect(answer).toMatchObject({ success: true, balance: Number(expected) })
    expect(answer.data.balance).toBe(answer.balance)
    expect(await recorded(id)).toMatchObject([
      ['ChannelBalanceRead', { channelId: id, balance: expected }],
    ])
    const { headers } = site.scripted.requests.at(-1) ?? {}
    const sent = type === 10 ? { 'api-key': SECRET } : { authorization: `Bearer ${SECRET}` }
    expect(headers).toMatchObject(sent)
  })

  it('asks OpenAI for this month’s usage of monthly payers, else for 100 days', async () => {
    const usagePath = () => site.scripted.requests.at(-1)?.path ?? ''
    const days = () => [...usagePath().matchAll(/\d{4}-\d\d-\d\d/g)].map(([day]) => Date.parse(day))
    const id = await site.channel({ base_url: `${site.scripted.url}/v1` })
    site.scripted.answers.set(USAGE, { body: '{"total_usage":0}' })
    site.scripted.answers.set(SUBSCRIPTION, { body: '{"hard_limit_usd":1}' })
    await site.ask(`/api/channel/update_balance/${id}/`)
    const [from = 0, until = 0] = days()
    expect((until - from) / 86_400_000).toBe(101)
    site.scripted.answers.set(SUBSCRIPTION, {
      body: '{"hard_limit_usd":1,"has_payment_method":true}',
    })
    await site.ask(`/api/channel/update_balance/${id}/`)
    expect(usagePath()).toMatch(/start_date=\d{4}-\d\d-01&/)
  })

  it.each([
    ['an answer without a balance', { body: '{}' }],
    ['an invalid number', { body: '{"total_remaining":"1e999"}' }],
    ['invalid JSON', { body: 'oops' }],
    ['a duplicate key', { body: '{"total_remaining":1,"total_remaining":2}' }],
    ['an error', { status: 500, body: { error: { message: `broke with ${SECRET}` } } }],
    ['an oversized answer', { body: `{"total_remaining":1,"x":"${'x'.repeat(70_000)}"}` }],
  ])('refuses %s with a reason and records nothing', async (_name, answer) => {
    site.scripted.answers.set(GRANTS, answer)
    const id = await site.channel({ type: 12 })
    const refused = await site.ask(`/api/channel/update_balance/${id}/`)
    expect(refused).toMatchObject({ status: 200, success: false, code: 'BalanceUnavailable' })
    expect(refused.text).not.toContain(SECRET)
    expect(await recorded(id)).toEqual([])
  })

  it('refuses a currency without an exchange rate and does not read it as dollars', async () => {
    const id = await site.channel({ type: 43 })
    // As a site may have it from before such a rate was refused.
    const event = {
      ...{ id: crypto.randomUUID(), type: 'OptionSet', v: 2 },
      data: { key: 'Price', value: '0', before: null },
      meta: { actor: 'system:test', cause: null, at: Date.now() },
    }
    const { store } = site.product.running.core
    await store.append([{ stream: OPTIONS_STREAM, expected: 'any', events: [event] }])
    const asked = () => site.ask(`/api/channel/update_balance/${id}/`)
    await expect.poll(asked).toMatchObject({ success: false, code: 'BalanceUnavailable' })
    expect((await asked()).message).toContain('Price')
    await setOption(site.product.root, 'Price', '7.3')
  })

  it('refuses a type without balances and a type that cannot be called', async () => {
    const silent = await site.channel({ type: 42 })
    expect(await site.ask(`/api/channel/update_balance/${silent}/`)).toMatchObject({
      status: 200,
      success: false,
      code: 'BalanceNotOffered',
    })
    const strange = await site.bygone()
    expect(await site.ask(`/api/channel/update_balance/${strange}/`)).toMatchObject({
      success: false,
      code: 'ChannelNotCallable',
    })
  })
})

describe('GET /api/channel/update_balance', () => {
  it('updates all enabled channels that report a balance, also after one fails', async () => {
    const { root } = site.product
    const { items } = await root.must<{ items: { id: number }[] }>(
      'GET',
      '/api/channel/?page_size=100',
    )
    await root.must('POST', '/api/channel/batch', { ids: items.map(({ id }) => id) })
    site.scripted.answers.set(GRANTS, { body: '{"total_remaining":5}' })
    const good = await site.channel({ type: 12 })
    const bad = await site.channel({ type: 13 })
    const off = await site.channel({ type: 12 })
    await root.must('PUT', '/api/channel/', { id: off, status: 2 })
    await site.channel({ type: 42 })
    const answer = await site.ask<BalanceUpdate>('/api/channel/update_balance')
    expect(answer).toMatchObject({ success: true, data: { updated: 1, failed: 1, left: 0 } })
    expect(await recorded(good)).toHaveLength(1)
    expect([await recorded(bad), await recorded(off)]).toEqual([[], []])
  })

  it('refuses a second run while one is running', async () => {
    let release = () => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    site.scripted.answers.set(GRANTS, { body: '{"total_remaining":5}', until })
    const asked = site.scripted.requests.length
    const first = site.ask('/api/channel/update_balance')
    await expect.poll(() => site.scripted.requests.length).toBeGreaterThan(asked)
    expect(await site.ask('/api/channel/update_balance')).toMatchObject({ code: 'BalancesRunning' })
    release()
    expect((await first).success).toBe(true)
  })
})
