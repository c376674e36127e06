import { describe, expect, it } from 'vitest'
import { checkText } from '#domain/options/check-option.ts'
import type { OptionSchema } from '#domain/options/option-definition.ts'
import {
  checkOption,
  OPTIONS,
  optionFlag,
  optionInteger,
  optionJson,
  optionValue,
  SECTIONS,
} from '#domain/options/option-registry.ts'
import { readPriceList } from '#domain/pricing/price-list.ts'

const all = [...OPTIONS.values()]
const NONE: ReadonlyMap<string, string> = new Map()

describe('the registry of options', () => {
  it.each(all)('the default of $key passes its own check and is normalized', (schema) => {
    expect(checkText(schema.type, schema.defaultText)).toEqual({ value: schema.defaultText })
    expect(optionValue(NONE, schema.key)).toBe(schema.defaultText)
  })

  it('lists each option once', () => {
    expect(SECTIONS.flatMap(({ options }) => options)).toHaveLength(OPTIONS.size)
  })

  it('lists each section once, grouped by tab', () => {
    expect(new Set(SECTIONS.map(({ id }) => id)).size).toBe(SECTIONS.length)
    const tabs = SECTIONS.map(({ tab }) => tab).filter((tab, n, list) => tab !== list[n - 1])
    expect(tabs).toEqual(['operation', 'ratelimit', 'models', 'system', 'other'])
  })

  it('restricts options that could take over the site to the super admin', () => {
    const isRoot = ({ minimumRole }: OptionSchema) => minimumRole === 100
    expect(all.filter(({ isSecret }) => isSecret).every(isRoot)).toBe(true)
    const security = /^(SMTP|GitHub|oidc\.|LinuxDO|Telegram|WeChat|Turnstile|Epay|PayAddress)/
    const guarded = all.filter(({ key }) => security.test(key))
    expect(guarded.length).toBeGreaterThan(20)
    expect(guarded.filter((schema) => !isRoot(schema)).map(({ key }) => key)).toEqual([])
    expect(OPTIONS.get('global.pass_through_request_enabled')?.minimumRole).toBe(100)
    expect(OPTIONS.get('QuotaPerUnit')?.minimumRole).toBe(100)
  })

  it('marks every option with a secret as secret', () => {
    const secretNames = /(Secret|Token|Key)$|secret$/
    const plain = all.filter(({ key, isSecret }) => secretNames.test(key) && !isSecret)
    expect(plain.map(({ key }) => key)).toEqual(['TurnstileSiteKey'])
  })

  it('has default prices that equal the prices without any option set', () => {
    const defaults = new Map(all.map(({ key, defaultText }) => [key, defaultText]))
    const [set, unset] = [readPriceList(defaults, 0), readPriceList(NONE, 0)]
    expect(set.groups).toEqual(unset.groups)
    expect(set.set.get('ModelRatio')?.get('gpt-4o')).toBe('1.25')
    expect(set.fallback).toBe(unset.fallback)
  })
})

describe('reading an option', () => {
  it('returns the set value, or the default', () => {
    const set = new Map([
      ['RetryTimes', '3'],
      ['RegisterEnabled', 'false'],
      ['Chats', '[{"a":"https://a.example"}]'],
    ])
    expect([optionInteger(NONE, 'RetryTimes'), optionInteger(set, 'RetryTimes')]).toEqual([0, 3])
    expect([optionFlag(NONE, 'RegisterEnabled'), optionFlag(set, 'RegisterEnabled')]).toEqual([
      true,
      false,
    ])
    expect(optionJson(set, 'Chats')).toEqual([{ a: 'https://a.example' }])
    expect(optionJson(NONE, 'Chats')).toEqual([])
  })

  it('throws for an unknown option or a value that is not an integer', () => {
    expect(() => optionValue(NONE, 'constructor')).toThrow('no option is called')
    expect(() => optionInteger(NONE, 'SystemName')).toThrow('not a whole number')
  })
})

describe('checking an option', () => {
  it('reports the key and the fault', () => {
    expect(checkOption('RegisterEnabled', 'yes')).toEqual({
      code: 'InvalidOption',
      params: { key: 'RegisterEnabled', error: 'not-flag' },
    })
    expect(checkOption('ModelRatio', '{"a":"x"}')).toEqual({
      code: 'InvalidOption',
      params: { key: 'ModelRatio', error: 'not-ratio', name: 'a' },
    })
  })

  it('never repeats the text of a secret option', () => {
    const refusal = checkOption('SMTPToken', 'canary')
    expect(refusal).toMatchObject({ code: 'InvalidOption', params: { error: 'secret' } })
    expect(JSON.stringify(refusal)).not.toContain('canary')
  })
})
