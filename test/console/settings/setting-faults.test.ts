import { expect, it } from 'vitest'
import { settingFault } from '#console/features/settings/setting-faults.ts'

it.each([
  ['{"a":1,"b":0.5}', null],
  ['{}', null],
  ['{"a":', 'notJson'],
  ['[1]', 'notMap'],
  ['{"a":"1"}', 'notMap'],
  ['{"a":-1}', 'notNumber'],
])('the ratios %s: %s', (text, code) => {
  expect(settingFault('ModelRatio', text)?.code ?? null).toBe(code)
})

it.each([
  ['{"vip":"VIP"}', null],
  ['{"vip":1}', 'notTextMap'],
])('the names %s: %s', (text, code) => {
  expect(settingFault('UserUsableGroups', text)?.code ?? null).toBe(code)
})

it.each([
  ['3', null],
  [' 3 ', null],
  ['', 'notInteger'],
  ['1.5', 'notInteger'],
  ['1e3', 'notInteger'],
  ['-1', 'tooSmall'],
])('the count %j: %s', (text, code) => {
  expect(settingFault('RetryTimes', text)?.code ?? null).toBe(code)
})

it('free text has no fault', () => {
  expect(settingFault('SystemName', '{"')).toBeNull()
})
