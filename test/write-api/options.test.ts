import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPTIONS } from '#domain/options/registry.ts'
import { type FurnishedFixture, furnishedFixture } from './write-fixture.ts'

let fixture: FurnishedFixture

beforeAll(async () => {
  fixture = await furnishedFixture()
})
afterAll(() => fixture.close())

const put = (key: string, value: unknown, call = fixture.root.call) =>
  call('PUT', '/api/option/', { body: { key, value } })
const list = async (): Promise<Map<string, string>> => {
  type Row = { key: string; value: string }
  const { data } = await fixture.root.call<Row[]>('GET', '/api/option/')
  return new Map(data.map(({ key, value }) => [key, value]))
}
const rootOnly = [...OPTIONS].find(([, option]) => option.minimumRole === 100)
const secret = [...OPTIONS].find(([, option]) => option.isSecret)

describe('options', () => {
  it('are set one at a time and read back at once', async () => {
    expect((await put('QuotaForNewUser', '42')).success).toBe(true)
    expect((await list()).get('QuotaForNewUser')).toBe('42')
    expect((await put('ModelRatio', '{"gpt-4o":1.25}', fixture.admin.call)).success).toBe(true)
  })

  it('set in parallel are all kept', async () => {
    const keys = ['QuotaForInviter', 'QuotaForInvitee', 'QuotaRemindThreshold', 'CheckInQuota']
    await Promise.all(keys.map((key, n) => put(key, String(n + 1))))
    const values = await list()
    expect(keys.map((key) => values.get(key))).toEqual(['1', '2', '3', '4'].slice(0, keys.length))
  })

  it('set to what they are write nothing', async () => {
    await put('QuotaForNewUser', '43')
    const head = await fixture.head()
    expect((await put('QuotaForNewUser', '43')).success).toBe(true)
    expect(await fixture.head()).toBe(head)
  })

  it.each([
    ['NoSuchOption', 'x', 400, 'UnknownOption'],
    ['__proto__', 'x', 400, 'UnknownOption'],
    ['constructor', 'x', 400, 'UnknownOption'],
    ['ModelRatio', '{"a":', 400, 'InvalidOption'],
    ['ModelRatio', '{"a":"x"}', 400, 'InvalidOption'],
    ['ModelRatio', '{"a":-1}', 400, 'InvalidOption'],
    ['ModelRatio', '{"a":1e999}', 400, 'InvalidOption'],
    ['GroupRatio', '[]', 400, 'InvalidOption'],
    ['GroupRatio', '{}', 400, 'InvalidOption'],
    ['GroupRatio', '{"vip":1}', 400, 'InvalidOption'],
    ['QuotaForNewUser', '-1', 400, 'InvalidOption'],
    ['QuotaForNewUser', 'NaN', 400, 'InvalidOption'],
    ['RebatePercentage', '101', 400, 'InvalidOption'],
    ['RegisterEnabled', 'yes', 400, 'InvalidOption'],
    ['QuotaForNewUser', 5, 400, 'InvalidField'],
  ])('%s = %s is refused, naming it', async (key, value, status, code) => {
    const head = await fixture.head()
    const answer = await put(key, value)
    expect(answer).toMatchObject({ status, success: false, code })
    expect(answer.message).toContain(code === 'InvalidField' ? 'value' : key)
    expect(await fixture.head()).toBe(head)
  })

  it.each([
    ['zh', '选项 GroupRatio 无效：缺少必需的条目（default）'],
    ['en', 'Invalid option GroupRatio: lacks an entry it must have (default)'],
  ])('of groups says in %s that the default group is missing', async (language, message) => {
    const answer = await fixture.root.call('PUT', '/api/option/', {
      body: { key: 'GroupRatio', value: '{"vip":0.5}' },
      headers: { 'accept-language': language },
    })
    expect(answer).toMatchObject({ status: 400, message })
    expect((await put('GroupRatio', '{"default":1,"vip":0.5}')).success).toBe(true)
  })

  it('that secure the site are the super admin’s alone', async () => {
    const [key = '', option] = rootOnly ?? []
    expect(option).toBeDefined()
    const answer = await put(key, option?.defaultText ?? '', fixture.admin.call)
    expect(answer).toMatchObject({ status: 403, code: 'OptionNotYours' })
  })
})

describe('a secret option', () => {
  it('is kept in the vault, reads as stars, and stays when the stars are sent back', async () => {
    if (secret === undefined) return
    const [key] = secret
    const text = 'canary-secret-option'
    expect((await put(key, text)).success).toBe(true)
    expect((await list()).get(key)).toBe('***')
    const head = await fixture.head()
    expect((await put(key, '***')).success).toBe(true)
    expect(await fixture.head()).toBe(head)
    expect(JSON.stringify(await fixture.core.store.readAll(0, 10_000))).not.toContain(text)
    await put(key, '')
    expect((await list()).get(key)).toBe('')
  })
})
