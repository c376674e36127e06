import { describe, expect, it } from 'vitest'
import { FALLBACK_KEYS } from '#console/features/settings/fallback-price-draft.ts'
import { PRICE_KEYS } from '#console/features/settings/price-rows.ts'
import { validateSetting } from '#console/features/settings/setting-validation.ts'
import { checkText } from '#domain/options/check-option.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import type { OptionSchema } from '#read-api/contract/options.ts'
import { schemaResponse } from '#read-api/options/option-routes.ts'

const options = schemaResponse().options

const typeOf = (key: string): OptionSchema['type'] => {
  const option = options.find((each) => each.key === key)
  if (option === undefined) throw new Error(`no option ${key}`)
  return option.type
}

const TEXTS = [
  ...['', ' ', '0', '-1', '1', '3', '4', '0.5', '0.001', '1.5', '1e3', '101', 'x', 'true', 'null'],
  ...['hour', 'https://a.example', 'ftp://a.example', 'a\nb', '[]', '["a"]', '[1]', '{}', '{"a":'],
  ...['{"a":1}', '{"a":0}', '{"a":-1}', '{"a":"b"}', '{"default":1}', '{"a":{"b":1}}'],
  ...['[{"a":"https://a.example"}]', '[{}]', '9007199254740993', '7'.repeat(500)],
]

describe.each(options)('the field of $key', ({ key, type, default: preset }) => {
  it('accepts its default', () => {
    expect(validateSetting(type, preset)).toBeNull()
  })

  it('accepts every value that the server accepts', () => {
    const own = OPTIONS.get(key)?.type
    if (own === undefined) throw new Error(`no option ${key}`)
    const held = TEXTS.filter((text) => validateSetting(type, text) !== null)
    expect(held.filter((text) => 'value' in checkText(own, text))).toEqual([])
  })
})

it.each([
  ['ModelRatio', '{"a":1,"b":0.5}', null],
  ['ModelRatio', '{"a":', 'notJson'],
  ['ModelRatio', '[1]', 'notMap'],
  ['ModelRatio', '{"a":"1"}', 'notMap'],
  ['ModelRatio', '{"a":-1}', 'notNumber'],
  ['GroupRatio', '{"vip":1}', 'entryMissing'],
  ['UserUsableGroups', '{"vip":1}', 'notTextMap'],
  ['claude.default_max_tokens', '{"a":0}', 'notCounts'],
  ['claude.model_headers_settings', '[]', 'notObject'],
  ['gemini.supported_imagine_models', '{"a":"b"}', 'notList'],
  ['Chats', '[{}]', 'notLinks'],
  ['Chats', '[{"":"https://a.example"}]', 'nameless'],
  ['Chats', '[{"a":"http://a.example"}]', 'notLink'],
  ['Chats', '[{"a":"https://a.example"},{"a":"https://b.example"}]', 'sameName'],
  ['Chats', '[{"a":"https://a.example/?k={nope}"}]', 'unknownPlaceholder'],
  ['Chats', '[{"a":"https://a.example/#/?s={\\"key\\":\\"{key}\\"}"},{"b":"x:{address}"}]', null],
  ['ChatLink', 'https://a.example/?k={nope}', 'unknownPlaceholder'],
  ['ChatLink', 'http://a.example', 'notLink'],
  ['ChatLink', 'http://localhost:3000/#/?k={key}', null],
  ['ChatLink2', 'opencat://team/join?url={address}', null],
  ['RetryTimes', ' 3 ', null],
  ['RetryTimes', '', 'notInteger'],
  ['RetryTimes', '1e3', 'notInteger'],
  ['RetryTimes', '-1', 'tooSmall'],
  ['RetryTimes', '4', 'tooLarge'],
  ['RebatePercentage', 'x', 'notNumber'],
  ['RebatePercentage', '100.01', 'tooLarge'],
  ['gemini.thinking_adapter_budget_tokens_percentage', '0.0019', 'tooSmall'],
  ['fallback_single_price', '', null],
  ['ServerAddress', 'example.com', 'notUrl'],
  ['SystemName', 'a\nb', 'notOneLine'],
  ['SystemName', 'x'.repeat(101), 'tooLong'],
])('the validation of %s = %j returns %s', (key, text, code) => {
  expect(validateSetting(typeOf(key), text)?.code ?? null).toBe(code)
})

it.each([...FALLBACK_KEYS, ...PRICE_KEYS])('%s, which has a separate form, is an option', (key) => {
  expect(OPTIONS.has(key)).toBe(true)
})
