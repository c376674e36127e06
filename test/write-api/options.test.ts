import { describe, expect, it } from 'vitest'
import type { OptionSchema } from '#domain/options/option-definition.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { isSameJson } from '#domain/shared/lossless-json.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const put = (key: string, value: unknown, call = fixture.root.call) =>
  call('PUT', '/api/option/', { body: { key, value } })
const list = async (): Promise<Map<string, string>> => {
  type Row = { key: string; value: string }
  const { data } = await fixture.root.call<Row[]>('GET', '/api/option/')
  return new Map(data.map(({ key, value }) => [key, value]))
}
const rootOnly = [...OPTIONS].find(([, option]) => option.minimumRole === 100)
const secret = [...OPTIONS].find(([, option]) => option.isSecret)

/**
 * Returns a value that differs from the option's default, or null for a secret option. About every
 * tenth value is large.
 */
function anotherValue({ isSecret, defaultText, type }: OptionSchema, n: number): string | null {
  if (isSecret || defaultText === '7.3') return null
  if (type.kind === 'flag') return defaultText === 'true' ? 'false' : 'true'
  if (type.kind === 'integer') return String(type.maximum - 1)
  if (type.kind === 'text')
    return type.form === undefined ? `text ${n}` : 'a@b.example'.slice(type.form === 'host' ? 2 : 0)
  if (type.kind === 'lines') return '字'.repeat(Math.min(type.maxLength, 60_000))
  if (type.kind === 'ratios') {
    const models = Array.from({ length: 3_000 }, (_, index) => [`model-${n}-${index}`, 1.5])
    return JSON.stringify({ ...Object.fromEntries(models), default: 1 })
  }
  return null
}

describe('options', () => {
  it('are set one at a time and read back at once', async () => {
    expect((await put('QuotaForNewUser', '42')).success).toBe(true)
    expect((await list()).get('QuotaForNewUser')).toBe('42')
    expect((await put('ModelRatio', '{"gpt-4o":1.25}', fixture.admin.call)).success).toBe(true)
  })

  it('are all kept when fifty, some of them large, are set at once', async () => {
    const expectedOptions = new Map(
      [...OPTIONS.values()].flatMap((option, n) => {
        const value = anotherValue(option, n)
        return value === null ? [] : [[option.key, value] as const]
      }),
    )
    const fiftyOf = [...expectedOptions].slice(0, 50)
    expect(fiftyOf).toHaveLength(50)
    const large = fiftyOf.filter(([, value]) => value.length > 50_000)
    expect(large.length).toBeGreaterThan(4)
    const answers = await Promise.all(fiftyOf.map(([key, value]) => put(key, value)))
    expect(answers.filter(({ success }) => !success)).toEqual([])
    const lost = async () => {
      const values = await list()
      return fiftyOf
        .filter(([key, value]) => !isSameJson(values.get(key) ?? '', value))
        .map(([key]) => key)
    }
    // A write responds after two seconds at most, even if its read model is not up to date.
    await expect.poll(lost).toEqual([])
  })

  it('refuse a value based on an old one, so that no other change is undone', async () => {
    const seen = JSON.stringify({ ours: 1 })
    await put('CacheRatio', seen)
    const putOver = (before: string, entries: object) =>
      fixture.root.call('PUT', '/api/option/', {
        body: { key: 'CacheRatio', value: JSON.stringify(entries), before },
      })
    const theirs = JSON.stringify({ ours: 1, theirs: 7 })
    expect((await putOver(seen, JSON.parse(theirs))).success).toBe(true)
    expect(await putOver(seen, { ours: 2 })).toMatchObject({
      success: false,
      code: 'OptionChanged',
      message: '该设置已被他人修改，请核对后重新保存',
    })
    expect(isSameJson((await list()).get('CacheRatio') ?? '', theirs)).toBe(true)
    expect((await putOver(theirs, { ours: 2, theirs: 7 })).success).toBe(true)
  })

  it('write nothing when set to their current value', async () => {
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
    ['RetryTimes', '4', 400, 'InvalidOption'],
    ['gemini.thinking_adapter_budget_tokens_percentage', '0.001', 400, 'InvalidOption'],
    ['claude.thinking_adapter_budget_tokens_percentage', '0.05', 400, 'InvalidOption'],
    ['general_setting.ping_interval_seconds', '0', 400, 'InvalidOption'],
    ['ModelRequestRateLimitSuccessCount', '0', 400, 'InvalidOption'],
    ['fallback_single_price', '-1', 400, 'InvalidOption'],
    ['Chats', '{"a":"b"}', 400, 'InvalidOption'],
    ['SystemName', 'a\nb', 400, 'InvalidOption'],
    ['SystemName', ' ', 400, 'InvalidOption'],
    ['SMTPServer', 'exa mple', 400, 'InvalidOption'],
    ['SMTPFrom', 'nobody', 400, 'InvalidOption'],
    ['Logo', 'javascript:alert(1)', 400, 'InvalidOption'],
    ['TopUpLink', 'javascript:1', 400, 'InvalidOption'],
    ['Chats', '[{"":"https://a.example"}]', 400, 'InvalidOption'],
    ['ChatLink', 'data:text/html,x', 400, 'InvalidOption'],
    ['ChatLink2', 'http://plain.example/', 400, 'InvalidOption'],
    ['Price', '0', 400, 'InvalidOption'],
    ['Notice', '好'.repeat(130_000), 400, 'InvalidOption'],
    ['RegisterEnabled', 'yes', 400, 'InvalidOption'],
    ['QuotaForNewUser', 5, 400, 'InvalidField'],
  ])(
    '%s = %s is refused, and the answer names the invalid part',
    async (key, value, status, code) => {
      const head = await fixture.head()
      const answer = await put(key, value)
      expect(answer).toMatchObject({ status, success: false, code })
      expect(answer.message).toContain(code === 'InvalidField' ? 'value' : key)
      expect(await fixture.head()).toBe(head)
    },
  )

  it.each([
    ['zh', '100.5', '返佣百分比必须在0到100之间'],
    ['zh', '-1', '返佣百分比必须在0到100之间'],
    ['en', '101', 'The rebate share must be between 0 and 100'],
  ])('in %s, a rebate of %s percent is refused with the message of the rule', async (...row) => {
    const [language, value, message] = row
    const answer = await fixture.root.call('PUT', '/api/option/', {
      body: { key: 'RebatePercentage', value },
      headers: { 'accept-language': language },
    })
    expect(answer).toMatchObject({ status: 200, success: false, code: 'OptionOutOfBounds' })
    expect(answer.message).toBe(message)
    expect((await put('RebatePercentage', '100')).success).toBe(true)
  })

  it('below their minimum are refused with a message that names the minimum', async () => {
    for (const [key, unit] of [
      ['fallback_single_price', 'dollars'],
      ['ChannelDisableThreshold', 'seconds'],
    ]) {
      const answer = await fixture.root.call('PUT', '/api/option/', {
        body: { key, value: '-1' },
        headers: { 'accept-language': 'en' },
      })
      expect(answer.message).toBe(`Invalid option ${key}: is below the minimum (0 ${unit})`)
    }
  })

  it.each([
    ['QuotaForNewUser', 'x', 'must be an integer (0 to 9007199254740991 quota units)'],
    ['RetryTimes', '1.5', 'must be an integer (0 to 3)'],
    ['RetryTimes', '4', 'is above the maximum (3)'],
    ['general_setting.ping_interval_seconds', '0', 'is below the minimum (1 second)'],
    ['SMTPPort', '70000', 'is above the maximum (65535)'],
    ['Price', 'x', 'must be a number (0.0001 to 1000000)'],
  ])(
    '%s = %s is refused with a message that names the bounds and their unit',
    async (key, value, words) => {
      const answer = await fixture.root.call('PUT', '/api/option/', {
        body: { key, value },
        headers: { 'accept-language': 'en' },
      })
      expect(answer.message).toBe(`Invalid option ${key}: ${words}`)
    },
  )

  it('accept the two ends of a range in any order, as forms save them in parallel', async () => {
    for (const [key, value] of [
      ['CheckInMaxQuota', '100'],
      ['CheckInQuota', '200'],
      ['CheckInMaxQuota', '300'],
    ] as const) {
      expect(await put(key, value)).toMatchObject({ success: true })
    }
  })

  it('accept JSON as they show it, without a change', async () => {
    await put('CompletionRatio', '{"b":1.50,"a":2e-1}')
    const shown = (await list()).get('CompletionRatio')
    expect(shown).toBe('{\n  "b": 1.50,\n  "a": 2e-1\n}')
    const head = await fixture.head()
    expect((await put('CompletionRatio', shown)).success).toBe(true)
    expect(await fixture.head()).toBe(head)
  })

  it.each([
    ['zh', '选项 GroupRatio 无效：缺少必需的条目（default）'],
    ['en', 'Invalid option GroupRatio: lacks a required entry (default)'],
  ])('report in %s that the ratios of groups lack the default group', async (language, message) => {
    const answer = await fixture.root.call('PUT', '/api/option/', {
      body: { key: 'GroupRatio', value: '{"vip":0.5}' },
      headers: { 'accept-language': language },
    })
    expect(answer).toMatchObject({ status: 400, message })
    expect((await put('GroupRatio', '{"default":1,"vip":0.5}')).success).toBe(true)
  })

  it('that secure the site can only be set by the super admin', async () => {
    const [key = '', option] = rootOnly ?? []
    expect(option).toBeDefined()
    const answer = await put(key, option?.defaultText ?? '', fixture.admin.call)
    expect(answer).toMatchObject({ status: 403, code: 'OptionNotYours' })
    expect(answer.message).toContain(key)
  })

  it('cannot be set by users and visitors', async () => {
    expect((await put('RetryTimes', '1', fixture.user.call)).status).toBe(403)
    expect((await put('RetryTimes', '1', fixture.anybody)).status).toBe(401)
  })
})

describe('a secret option', () => {
  it('is removed from the vault when it is replaced or cleared', async () => {
    const { vault, store } = fixture.core
    const kept = async () => {
      const events = await store.readStream('options', 0, 1_000)
      const refs = events.flatMap(({ type, data }) =>
        type === 'SecretOptionSet' ? (data as { secretRef: string }).secretRef : [],
      )
      const owned = refs.filter((ref) => ref !== '').map((ref) => ({ owner, ref }))
      return [...(await vault.getSecrets('option', owned)).values()]
    }
    const owner = 'option:oidc.client_secret'
    for (const text of ['first', 'second']) await put('oidc.client_secret', text)
    expect(await kept()).toEqual(['second'])
    await put('oidc.client_secret', '')
    expect(await kept()).toEqual([])
  })

  it('is refused if it is longer than any secret', async () => {
    const answer = await put('SMTPToken', 'x'.repeat(20_001))
    expect(answer).toMatchObject({ status: 400, code: 'InvalidOption' })
    expect((await list()).get('SMTPToken')).toBe('')
  })

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
