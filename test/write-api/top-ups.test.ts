import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { Status } from '#read-api/contract/status.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { KEYS, OWN_ADDRESS, topUpFixture } from './top-up-fixture.ts'
import { fifty, PASSWORD } from './write-fixture.ts'

const fixture = startedOnce(topUpFixture)

const ask = (body: object) => fixture.user.call('POST', '/api/user/amount', { body })
const pay = (body: object) => fixture.user.call('POST', '/api/user/pay', { body })
const status = async () =>
  (await fixture.anybody<Status>('GET', '/api/status', { headers: await fresh() })).data
const fresh = async () => ({ 'x-after-position': String(await fixture.head()) })

describe('the configuration of the payment providers', () => {
  it('refuses top-ups and notices while it is incomplete, and the status says so', async () => {
    expect(await ask({ amount: 1 })).toMatchObject({ success: false, code: 'TopUpClosed' })
    await fixture.set('PayAddress', fixture.gateway.url)
    await fixture.set('EpayId', KEYS.merchant)
    // Without its secret, the payment method is disabled, because anybody could sign with an empty
    // key.
    const sent = { amount: 1, payment_method: 'zfb' }
    expect(await pay(sent)).toMatchObject({ success: false, code: 'TopUpClosed' })
    const notice = fixture.gateway.noticeOf('T1X0123456789ABCDEF01234567')
    expect((await fixture.notify(notice)).status).toBe(503)
    const off = { enable_online_topup: false, topup_methods: [], min_topup: 1, top_up_link: '' }
    expect(await status()).toMatchObject(off)
  })

  it('opens top-ups once it is complete, and the status lists the payment methods', async () => {
    await fixture.switchOn()
    await fixture.set('TopUpLink', 'https://shop.example/')
    const on = { enable_online_topup: true, topup_methods: ['zfb', 'wx', 'stripe'] }
    expect(await status()).toMatchObject({ ...on, top_up_link: 'https://shop.example/' })
    await fixture.set('StripeWebhookSecret', '')
    expect((await status()).topup_methods).toEqual(['zfb', 'wx'])
    const closed = { success: false, code: 'PaymentMethodClosed' }
    expect(await ask({ amount: 1, payment_method: 'stripe' })).toMatchObject(closed)
    await fixture.set('StripeWebhookSecret', KEYS.stripeWebhookSecret)
  })
})

describe('the price of a top-up', () => {
  it.each([
    [{ amount: 1 }, '7.30', 'CNY'],
    [{ amount: 3, top_up_code: '' }, '21.90', 'CNY'],
    [{ amount: 1_000_000 }, '7300000.00', 'CNY'],
    [{ amount: 5, payment_method: 'stripe' }, '5.00', 'USD'],
  ])('for %j is %s', async (body, money, currency) => {
    const answer = { success: true, message: 'success', data: money, currency }
    expect(await ask(body)).toMatchObject(answer)
  })

  it('is reduced by a code; unknown codes are refused and soon rate-limited', async () => {
    const free = await fixture.set('TopUpCodes', '{"FREE": 0.0}')
    expect([free.success, free.message]).toEqual([false, expect.stringContaining('大于 0')])
    await fixture.set('TopUpCodes', '{"SPRING": 0.85, "constructor2": 1}')
    expect((await ask({ amount: 3, top_up_code: ' SPRING ' })).data).toBe('18.62')
    const wrong = () => ask({ amount: 3, top_up_code: 'constructor' })
    expect(await wrong()).toMatchObject({ success: false, code: 'TopUpCodeUnknown' })
    const answers = await fifty(wrong)
    expect(answers.filter(({ code }) => code === 'TopUpCodeUnknown').length).toBe(9)
    expect((await wrong()).status).toBe(429)
    fixture.clock.ahead += 61_000
  })

  it('is refused for an invalid field or a small amount, and the message names it', async () => {
    for (const [body, field] of [
      [{ amount: 0 }, 'amount'],
      [{ amount: 1.5 }, 'amount'],
      [{ amount: '10' }, 'amount'],
      [{ amount: 1_000_001 }, 'amount'],
      [{}, 'amount'],
      [{ amount: 1, payment_method: 'cash' }, 'payment_method'],
      [{ amount: 1, top_up_code: 7 }, 'top_up_code'],
    ] as const) {
      const answer = await ask(body)
      expect(answer.status).toBe(400)
      expect(answer.message).toContain(field)
    }
    await fixture.set('MinTopUp', '10')
    const small = await ask({ amount: 9 })
    expect(small).toMatchObject({ success: false, message: '充值数量不能小于10' })
    const large = await ask({ amount: 1_000_000, payment_method: 'stripe' })
    expect(large).toMatchObject({ success: false, code: 'TopUpTooLarge' })
    await fixture.set('MinTopUp', '1')
  })
})

describe('a top-up order', () => {
  it('answers a form for the gateway, with the configured addresses of the site', async () => {
    const headers = { host: 'evil.example', origin: 'http://evil.example' }
    const sent = { amount: 2, payment_method: 'wx' }
    const answer = await fixture.user.call('POST', '/api/user/pay', { body: sent, headers })
    const expected = { success: true, message: 'success', url: `${fixture.gateway.url}/submit.php` }
    expect(answer).toMatchObject(expected)
    expect(answer.data).toMatchObject({
      pid: KEYS.merchant,
      type: 'wxpay',
      money: '14.60',
      notify_url: `${OWN_ADDRESS}/api/user/epay/notify`,
      return_url: `${OWN_ADDRESS}/app/wallet`,
    })
    expect(JSON.stringify(answer)).not.toContain(KEYS.key)
    expect(await fixture.orders(fixture.user, '/self')).toMatchObject([
      { id: 1, amount: 2, quota: 1_000_000, money: '14.60', status: 'pending', refundable: '0.00' },
    ])
  })

  it('answers a page of Stripe, and is refused if Stripe opens none', async () => {
    const sent = { amount: 5, payment_method: 'stripe' }
    const answer = await pay(sent)
    expect(answer).toMatchObject({ success: true, data: {} })
    const { checkouts } = fixture.gateway
    const [form] = [...checkouts.values()]
    expect(Object.fromEntries(form ?? [])).toMatchObject({
      mode: 'payment',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '500',
      success_url: `${OWN_ADDRESS}/app/wallet`,
    })
    await fixture.set('StripeApiKey', 'sk_test_other')
    const failed = await pay(sent)
    expect(failed).toMatchObject({ success: false, code: 'PaymentProviderFailed' })
    expect(JSON.stringify(failed)).not.toContain('sk_test')
    await fixture.set('StripeApiKey', KEYS.stripeKey)
  })

  it('needs the configured address of the site, and is not stored if it is refused', async () => {
    const before = (await fixture.orders(fixture.user, '/self')).length
    await fixture.set('ServerAddress', '')
    const refused = await pay({ amount: 1, payment_method: 'zfb' })
    expect(refused).toMatchObject({ success: false, code: 'PaymentAddressRequired' })
    await fixture.set('ServerAddress', OWN_ADDRESS)
    expect(await fixture.orders(fixture.user, '/self')).toHaveLength(before)
  })

  it('is limited to ten of fifty at once, because each adds a permanent stream', async () => {
    fixture.clock.ahead += 61_000
    const answers = await fifty(() => pay({ amount: 1, payment_method: 'zfb' }))
    expect(answers.filter(({ success }) => success)).toHaveLength(10)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
    const own = await fixture.orders(fixture.user, '/self?page_size=100')
    const ids = own.map(({ id }) => id)
    expect(ids).toEqual(ids.map((_, n) => own.length - n))
  })
})

const manage = async (id: number, action: string) => {
  const { success } = await fixture.root.call('POST', '/api/user/manage', { body: { id, action } })
  expect(success).toBe(true)
}

describe('a refund of a top-up', () => {
  const refund = (id: number, body: object, by = fixture.admin) =>
    by.call('POST', `/api/user/topup/${id}/refund`, { body: { refunds: 0, ...body } })
  /** Creates a user with a paid order. */
  const paidOrderOf = async (username: string) => {
    await fixture.root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
    const payer = await fixture.logIn(username)
    const tradeNo = await fixture.order(payer, { amount: 1 })
    await fixture.notify(fixture.gateway.noticeOf(tradeNo))
    const [order] = await fixture.orders(payer, '/self')
    return { userId: payer.id, orderId: order?.id ?? 0 }
  }
  let id = 0

  it('takes back the quota and the inviter’s share, even below zero', async () => {
    await fixture.set('RebateEnabled', 'true')
    await fixture.set('RebatePercentage', '12.5')
    const { invited, user, gateway } = fixture
    const inviter = await fixture.stands(user)
    const tradeNo = await fixture.order(invited, { amount: 10 })
    expect((await fixture.notify(gateway.noticeOf(tradeNo))).text).toBe('success')
    expect((await fixture.stands(invited)).quota).toBe(5_000_000)
    expect((await fixture.stands(user)).aff_quota).toBe(inviter.aff_quota + 625_000)
    ;[{ id } = { id: 0 }] = await fixture.orders(invited, '/self')
    // The user spends the quota before the refund.
    await fixture.root.call('PUT', '/api/user/', { body: { id: invited.id, quota: 100 } })
    expect(await refund(id, { money: '36.50', reason: 'half' })).toMatchObject({ success: true })
    expect((await fixture.stands(invited)).quota).toBe(100 - 2_500_000)
    expect((await fixture.stands(user)).aff_quota).toBe(inviter.aff_quota + 312_500)
    const [order] = await fixture.orders(invited, '/self')
    expect(order).toMatchObject({ status: 'refunded', refundable: '36.50', rebate_quota: 0 })
    expect(order?.refunds).toMatchObject([{ money: '36.50', reason: 'half', actor_name: '' }])
  })

  it('is refused if it is repeated or names an outdated number of refunds', async () => {
    for (const refunds of [0, 2]) {
      const again = await refund(id, { money: '36.50', reason: 'half', refunds })
      expect(again.code).toBe('RefundedMeanwhile')
    }
    for (const refunds of [undefined, -1, 0.5, 'x']) {
      const { status, message } = await refund(id, { money: '1', reason: 'half', refunds })
      expect([status, message]).toEqual([400, expect.stringContaining('refunds')])
    }
    expect((await fixture.stands(fixture.invited)).quota).toBe(100 - 2_500_000)
  })

  it('never exceeds what was paid, even if fifty are sent at once', async () => {
    const more = await refund(id, { money: '36.51', reason: 'all', refunds: 1 })
    expect(more).toMatchObject({ code: 'RefundOutOfRange' })
    expect(more.message).toContain('36.50')
    const answers = await fifty(() => refund(id, { reason: 'all', refunds: 1 }))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const codes = new Set(answers.flatMap(({ code }) => code ?? []))
    for (const code of codes) expect(['RefundedMeanwhile', 'RefundOutOfRange']).toContain(code)
    expect((await fixture.stands(fixture.invited)).quota).toBe(100 - 5_000_000)
    const [order] = await fixture.orders(fixture.admin, `?keyword=${id}`)
    expect(order).toMatchObject({ refundable: '0.00', rebate_quota: 625_000, username: 'invited' })
    expect(order?.refunds.map(({ actor_name }) => actor_name)).toEqual(['admin1', 'admin1'])
  })

  it('needs a reason, a paid order, a valid sum, and a user of a lower level', async () => {
    expect((await refund(id, { reason: ' ' })).code).toBe('RefundReasonRequired')
    expect((await refund(1, { reason: 'x' })).code).toBe('TopUpNotPaid')
    expect((await refund(999, { reason: 'x' })).status).toBe(404)
    for (const money of ['0', '-1', '1e3', 'x', '1.001']) {
      expect((await refund(id, { money, reason: 'x', refunds: 2 })).code).toBe('RefundOutOfRange')
    }
    const tradeNo = await fixture.order(fixture.admin, { amount: 1 })
    await fixture.notify(fixture.gateway.noticeOf(tradeNo))
    const [own] = await fixture.orders(fixture.admin, '/self')
    expect((await refund(own?.id ?? 0, { reason: 'mine' })).code).toBe('RoleTooHigh')
    const byRoot = await refund(own?.id ?? 0, { reason: 'ok' }, fixture.root)
    expect(byRoot.success).toBe(true)
  })

  it('of an auditor is recorded only by a super admin', async () => {
    const inspector = await paidOrderOf('inspector')
    await fixture.whileUsersLag(async () => {
      await manage(inspector.userId, 'appoint_auditor')
      const before = await fixture.head()
      const byAdmin = await refund(inspector.orderId, { reason: 'not mine to change' })
      expect(byAdmin).toMatchObject({ success: false, code: 'RoleTooHigh' })
      expect(await fixture.head()).toBe(before)
    })
    const byRoot = await refund(inspector.orderId, { reason: 'ok' }, fixture.root)
    expect(byRoot.success).toBe(true)
  })

  it('of a deleted user is recorded by an admin, unless the user was an admin', async () => {
    const [leaver, colleague] = [await paidOrderOf('leaver'), await paidOrderOf('colleague')]
    await manage(colleague.userId, 'promote')
    for (const { userId } of [leaver, colleague]) await manage(userId, 'delete')
    const ofColleague = await refund(colleague.orderId, { reason: 'left' })
    expect(ofColleague).toMatchObject({ success: false, code: 'RoleTooHigh' })
    expect((await refund(leaver.orderId, { reason: 'left' })).success).toBe(true)
  })

  it('is in the log with the admin and the reason, next to the top-up', async () => {
    const path = '/api/log/?username=invited&page_size=100'
    const { data } = await fixture.admin.call<{ items: LogEntry[] }>('GET', path)
    const rows = data.items.filter(({ content }) => content !== '管理员减少额度')
    expect(rows.map(({ type, quota }) => [type, quota])).toEqual([
      [3, -2_500_000],
      [3, -2_500_000],
      [1, 5_000_000],
    ])
    expect(JSON.parse(rows[0]?.other ?? '')).toMatchObject({
      changed_by: { username: 'admin1' },
      note: 'all',
    })
  })
})

it('a payment gives no rebate to an inviter who was banned just before', async () => {
  const { core, gateway, invited, user } = fixture
  const inviter = () =>
    core.actors.ask(accountDecider, accountStream(user.id), ({ affiliate }) => affiliate)
  const [banned, active] = [
    await fixture.order(invited, { amount: 1 }),
    await fixture.order(invited, { amount: 1 }),
  ]
  const before = await inviter()
  await fixture.whileUsersLag(async () => {
    await manage(user.id, 'disable')
    expect((await fixture.notify(gateway.noticeOf(banned))).text).toBe('success')
  })
  expect(await inviter()).toBe(before)
  await manage(user.id, 'enable')
  expect((await fixture.notify(gateway.noticeOf(active))).text).toBe('success')
  expect(await inviter()).toBe(before + 62_500n)
})

it('the read models equal the folds of their events', async () => {
  for (const name of ['orders', 'balances', 'call-log', 'usage-by-hour'] as const) {
    expect(await fixture.isFold(name), name).toBe(true)
  }
})
