import { describe, expect, it } from 'vitest'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { callerOf, fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

type Listed = { readonly items: Redemption[]; readonly page: number; readonly total: number }

const PATH = '/api/redemption/'
const make = (body: object) =>
  fixture.admin.call<string[]>('POST', PATH, { body: { name: 'code', quota: 500_000, ...body } })
const list = async (query = '') =>
  (await fixture.admin.call<Listed>('GET', `${PATH}search?page_size=100&${query}`)).data
const named = async (name: string): Promise<Redemption[]> =>
  (await list(`keyword=${name}&sort=id&order=asc`)).items
const one = async (body: { name: string }): Promise<Redemption> => {
  await make(body)
  const [row] = await named(body.name)
  if (row === undefined) throw new Error(`no code ${body.name}`)
  return row
}
const put = (body: object, query = '') => fixture.admin.call('PUT', `${PATH}${query}`, { body })
const setStatus = (id: number, status: unknown) => put({ id, status }, '?status_only=true')
const redeem = (key: string) => fixture.user.call('POST', '/api/user/topup', { body: { key } })

describe('creating redemption codes', () => {
  it('answers the keys of the codes, which are in the list at once', async () => {
    const { success, data: keys } = await make({ name: 'batch', count: 3 })
    expect(success).toBe(true)
    expect(new Set(keys).size).toBe(3)
    const rows = await named('batch')
    expect(rows.map(({ key }) => key)).toEqual(keys)
    expect(rows[0]).toMatchObject({
      ...{ name: 'batch', quota: 500_000, status: 1, used_user_id: 0, is_gift: false },
      ...{ max_uses: 1, used_count: 0, valid_from: 0, valid_until: 0, redeemed_time: 0 },
    })
    expect(rows[0]?.key).toMatch(/^[A-HJ-NP-Z2-9]{32}$/)
  })

  it('accepts a custom key, the terms of a gift and times', async () => {
    const key = 'SPRING-2026'
    const terms = { is_gift: true, valid_from: 1_900_000_000, valid_until: 1_900_000_060 }
    expect((await make({ name: 'own', key: ` ${key} `, ...terms, max_uses: 5 })).data).toEqual([
      key,
    ])
    expect(await named('own')).toMatchObject([{ key, key_hint: '', ...terms, max_uses: 5 }])
    expect((await make({ name: 'own', key })).code).toBe('RedemptionKeyTaken')
    await make({ name: 'unlimited', is_gift: true, max_uses: null, valid_from: null })
    expect(await named('unlimited')).toMatchObject([{ max_uses: -1, valid_from: 0 }])
  })

  it.each<[object, string, string]>([
    [{ name: '' }, 'RedemptionNameRequired', '兑换码名称不能为空'],
    [{ name: 'x'.repeat(21) }, 'RedemptionNameLength', '兑换码名称长度必须在1-20之间'],
    [{ count: 0 }, 'RedemptionCountTooSmall', '兑换码个数必须大于0'],
    [{ count: 101 }, 'RedemptionCountTooLarge', '一次兑换码批量生成的个数不能大于 100'],
    [{ quota: 0 }, 'RedemptionQuotaTooSmall', '兑换码额度必须大于0'],
    [{ key: 'abc' }, 'RedemptionKeyTooShort', '自定义兑换码至少需要 4 个字符'],
    [{ key: 'twofold', count: 2 }, 'OneKeyOneCode', '自定义兑换码时只能生成一个'],
    [{ is_gift: true, max_uses: 0 }, 'MaxUsesTooFew', '最大使用次数不能小于 1（-1 表示不限）'],
    [{ valid_from: 9, valid_until: 9 }, 'ValidityOrder', '生效时间必须早于过期时间'],
  ])('is refused with %j', async (body, code, message) => {
    const head = await fixture.head()
    expect(await make(body)).toMatchObject({ status: 200, success: false, code, message })
    expect(await fixture.head()).toBe(head)
  })

  it.each<[object, string]>([
    [{ quota: '5' }, 'quota'],
    [{ quota: 2 ** 53 }, 'quota'],
    [{ quota: 1.5 }, 'quota'],
    [{ count: 'x' }, 'count'],
    [{ key: 'a b' }, 'key'],
    ...['-1234', '+1234', '=1234', '@1234'].map((key): [object, string] => [{ key }, 'key']),
    [{ key: 'x'.repeat(65) }, 'key'],
    [{ name: 'a\u202eb' }, 'name'],
    [{ valid_from: -1 }, 'valid_from'],
    [{ valid_until: 9 }, 'valid_until'],
    [{ max_uses: -2 }, 'max_uses'],
  ])('is refused with %j, and the message names the invalid field', async (body, field) => {
    const answer = await make(body)
    expect(answer).toMatchObject({ status: 400, success: false })
    expect(answer.message).toContain(field)
  })

  it('runs once per Idempotency-Key, and a repetition answers the same keys', async () => {
    const keyed = (name: string, body: object = {}, { call } = fixture.admin) =>
      call<string[]>('POST', PATH, {
        body: { name: 'once', quota: 5, count: 3, ...body },
        headers: { 'idempotency-key': name },
      })
    const answers = await fifty(() => keyed('order 17'))
    const keys = (await named('once')).map(({ key }) => key)
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(3)
    for (const key of keys) expect(key).toMatch(/^[A-HJ-NP-Z2-9]{32}$/)
    for (const { data } of answers) expect(data).toEqual(keys)
    await fixture.admin.call('DELETE', `${PATH}delete-by-name?name=once`)
    const head = await fixture.head()
    expect((await keyed('order 17')).data).toEqual(keys)
    const reused = { status: 422, success: false, code: 'RequestKeyReused' }
    expect(await keyed('order 17', { count: 2 })).toMatchObject(reused)
    expect(await keyed('order 17', { quota: 6 })).toMatchObject(reused)
    const bad = await keyed('x'.repeat(256))
    expect(bad.status).toBe(400)
    expect(bad.message).toContain('Idempotency-Key')
    expect(await fixture.head()).toBe(head)
    // A refused request does not use up its key. Each admin has separate keys.
    expect((await keyed('order 18', { quota: 0 })).code).toBe('RedemptionQuotaTooSmall')
    expect((await keyed('order 18')).success).toBe(true)
    const others = (await keyed('order 17', {}, fixture.root)).data
    expect(others.filter((key) => keys.includes(key))).toEqual([])
    expect(await named('once')).toHaveLength(6)
  })

  it('gives fifty codes distinct ids, and creates one code if fifty use one key', async () => {
    const before = Math.max(...(await list()).items.map(({ id }) => id))
    const made = await fifty((n) => make({ name: `race${n}` }))
    expect(made.every(({ success }) => success)).toBe(true)
    const ids = (await list('keyword=race')).items.map(({ id }) => id)
    const dense = Array.from({ length: 50 }, (_, n) => before + 1 + n)
    expect(ids.sort((a, b) => a - b)).toEqual(dense)
    const same = await fifty(() => make({ name: 'same', key: 'SAME-KEY' }))
    expect(same.filter(({ success }) => success)).toHaveLength(1)
  })
})

describe('changing a redemption code', () => {
  it('sets the given fields, and accepts a row as it was read', async () => {
    const row = await one({ name: 'changing' })
    const head = await fixture.head()
    expect((await put(row)).success).toBe(true)
    expect(await fixture.head()).toBe(head)
    await put({ id: row.id, quota: 7, is_gift: true, valid_until: 1_900_000_000 })
    const after = { ...row, quota: 7, is_gift: true, max_uses: -1, valid_until: 1_900_000_000 }
    expect(await named('changing')).toEqual([after])
    const other = await put({ id: row.id, key: 'ANOTHER' })
    expect(other).toMatchObject({ status: 400, code: 'InvalidField' })
  })

  it('disables and enables a code; disabled and used codes cannot be edited', async () => {
    const { id, key } = await one({ name: 'switched' })
    expect((await setStatus(id, 2)).success).toBe(true)
    expect(await named('switched')).toMatchObject([{ status: 2 }])
    expect((await redeem(key)).code).toBe('CodeInvalid')
    expect((await put({ id, quota: 9 })).code).toBe('RedemptionNotEditable')
    expect((await setStatus(id, 1)).success).toBe(true)
    expect((await redeem(key)).success).toBe(true)
    expect(await named('switched')).toMatchObject([
      { status: 3, used_user_id: 3, used_username: 'user1', used_count: 1 },
    ])
    expect((await put({ id, quota: 9 })).code).toBe('RedemptionNotEditable')
    expect((await setStatus(id, 1)).code).toBe('RedemptionUsed')
    expect(await setStatus(id, 3)).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(await setStatus(999_999, 2)).toMatchObject({ status: 404, code: 'RedemptionUnknown' })
  })
})

describe('disabling and deleting redemption codes', () => {
  it('disables the unused codes of a selection, and answers how many', async () => {
    const { data: keys } = await make({ name: 'many', count: 4 })
    const rows = await named('many')
    await redeem(keys[0] ?? '')
    await setStatus(rows[1]?.id ?? 0, 2)
    const ids = [...rows.map(({ id }) => id), 999_999]
    const disable = (given: unknown) =>
      fixture.admin.call('PUT', `${PATH}batch-disable`, { body: { ids: given } })
    expect(await disable(ids)).toMatchObject({ success: true, data: 2 })
    expect((await named('many')).map(({ status }) => status)).toEqual([3, 2, 2, 2])
    expect(await disable([])).toMatchObject({ message: '请至少选择一个兑换码！' })
    expect((await disable(['1'])).status).toBe(400)
    const gone = await fixture.admin.call('DELETE', `${PATH}delete-disabled`)
    expect(gone).toMatchObject({ success: true, data: 3 })
    expect((await named('many')).map(({ status }) => status)).toEqual([3])
  })

  it('counts and deletes the codes with exactly the given name', async () => {
    await make({ name: 'named', count: 100 })
    await make({ name: 'named too' })
    const path = (name: string) => `${PATH}count-by-name?name=${encodeURIComponent(name)}`
    expect((await fixture.admin.call('GET', path('named'))).data).toBe(100)
    expect((await fixture.admin.call('GET', path('nobody'))).data).toBe(0)
    const remove = (name: string) =>
      fixture.admin.call('DELETE', `${PATH}delete-by-name?name=${name}`)
    expect((await remove('named')).data).toBe(100)
    expect((await remove('named')).data).toBe(0)
    expect((await remove('')).code).toBe('RedemptionNameRequired')
    expect(await named('named')).toMatchObject([{ name: 'named too' }])
  })

  it('deletes a code, whose key is then invalid and free for a new code', async () => {
    await make({ name: 'again', key: 'AGAIN-AND-AGAIN' })
    const [row] = await named('again')
    const remove = () => fixture.admin.call('DELETE', `${PATH}${row?.id}/`)
    expect((await remove()).success).toBe(true)
    expect(await remove()).toMatchObject({ status: 404, code: 'RedemptionUnknown' })
    expect((await redeem('AGAIN-AND-AGAIN')).code).toBe('CodeInvalid')
    expect((await make({ name: 'again', key: 'AGAIN-AND-AGAIN' })).success).toBe(true)
    expect((await redeem('AGAIN-AND-AGAIN')).success).toBe(true)
  })
})

describe('the list of redemption codes', () => {
  it('is searched by name, id, whole key and status, and sorted over all pages', async () => {
    const { data: keys } = await make({ name: 'sought%', quota: 11, count: 2 })
    const rows = await named('sought%25')
    expect(rows).toHaveLength(2)
    expect((await list(`keyword=${keys[1]}`)).items).toMatchObject([{ id: rows[1]?.id }])
    expect((await list(`keyword=${keys[1]?.slice(0, 20)}`)).items).toEqual([])
    expect((await list(`keyword=${rows[0]?.id}`)).items).toContainEqual(rows[0])
    expect((await list('status=3')).items.every(({ status }) => status === 3)).toBe(true)
    const page = async (p: number) =>
      (await fixture.admin.call<Listed>('GET', `${PATH}?p=${p}&page_size=30&sort=name&order=asc`))
        .data
    const pages = [await page(0), await page(1)]
    const ids = pages.flatMap(({ items }) => items.map(({ id }) => id))
    const whole = await list('sort=name&order=asc')
    expect(ids).toEqual(whole.items.slice(0, 60).map(({ id }) => id))
    expect(pages.map((one) => one.page)).toEqual([0, 1])
    expect(pages[0]?.total).toBe(whole.total)
  })

  it('shows keys only to sessions, not to access tokens', async () => {
    const { data: token } = await fixture.admin.call<string>('GET', '/api/user/token')
    const headers = { authorization: `Bearer ${token}`, 'user-id': String(fixture.admin.id) }
    const byToken = await callerOf(fixture.app, headers)<Listed>('GET', PATH)
    expect(byToken.success).toBe(true)
    expect(byToken.data.items.length).toBeGreaterThan(0)
    expect(byToken.data.items.every(({ key }) => key === '')).toBe(true)
  })

  it('equals the fold of its events, which hold no key', async () => {
    const rows = (await list()).items
    const events = JSON.stringify(await fixture.core.store.readAll(0, 100_000))
    expect(rows.length).toBeGreaterThan(50)
    for (const { key } of rows) expect(events).not.toContain(key)
    expect(await fixture.isFold('redemptions')).toBe(true)
  })
})
