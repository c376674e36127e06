import { describe, expect, it } from 'vitest'
import { optionsDecider } from '#domain/options/decide.ts'
import type { OptionsEvent } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(optionsDecider)

const set = (key: string, before: string | null, value: string): OptionsEvent => ({
  type: 'OptionSet',
  v: 2,
  data: { key, value, before },
})
const secretSet = (key: string, before: string, secretRef: string): OptionsEvent => ({
  type: 'SecretOptionSet',
  v: 2,
  data: { key, secretRef, before },
})
const setOption = (key: string, value: string) => ({ type: 'SetOption', key, value }) as const
const setSecret = (key: string, secretRef: string) =>
  ({ type: 'SetSecretOption', key, secretRef }) as const

describe('setting an option', () => {
  it('records the normalized text and the previous value', () => {
    given()
      .when(setOption('RetryTimes', ' 03 '))
      .then([set('RetryTimes', '0', '3')])
  })

  it('changes nothing if the value is already in effect, set or by default', () => {
    given().when(setOption('RetryTimes', '0')).then([])
    given(set('RetryTimes', '0', '3'))
      .when(setOption('RetryTimes', '3'))
      .then([])
    given(set('RetryTimes', '0', '3'))
      .when(setOption('RetryTimes', '0'))
      .then([set('RetryTimes', '3', '0')])
  })

  it('is refused beyond the bounds, and the error has the option, error and bounds', () => {
    const details = { key: 'RetryTimes', error: 'above-maximum', minimum: 0, maximum: 3 }
    given().when(setOption('RetryTimes', '4')).then(codedError('InvalidOption', details))
  })

  it('is refused if the client saw another value, but not if only the layout differs', () => {
    const seen = (key: string, before: string, value: string) => ({
      ...setOption(key, value),
      before,
    })
    const priced = set('ModelRatio', '{}', '{"a":1,"b":2}')
    const blanks = '{\n  "a": 1,\n  "b": 2\n}'
    given(priced)
      .when(seen('ModelRatio', '{"a":1}', '{"a":3}'))
      .then(codedError('OptionChanged', { key: 'ModelRatio' }))
    given(priced)
      .when(seen('ModelRatio', blanks, '{"a":3,"b":2}'))
      .then([set('ModelRatio', '{"a":1,"b":2}', '{"a":3,"b":2}')])
    // The option already has this value, so the command overwrites no other change.
    given(priced)
      .when(seen('ModelRatio', '{"a":1}', blanks))
      .then([])
    given()
      .when(seen('RetryTimes', '1', '2'))
      .then(codedError('OptionChanged', { key: 'RetryTimes' }))
  })

  it('omits the previous text if that is too long for an event', () => {
    given(set('Notice', null, '好'.repeat(130_000)))
      .when(setOption('Notice', 'x'))
      .then([set('Notice', null, 'x')])
  })

  it.each(['NoSuchOption', '', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is refused for the unknown option %j',
    (key) => {
      given().when(setOption(key, 'x')).then(codedError('UnknownOption', { key }))
      given().when(setSecret(key, 'ref')).then(codedError('UnknownOption', { key }))
    },
  )

  it('does not return an overlong option name in the error', () => {
    const { outcome } = given().when(setOption('x'.repeat(10_000), ''))
    expect(JSON.stringify(outcome).length).toBeLessThan(300)
  })
})

describe('a secret option', () => {
  it('records only a reference to the text, once; an empty one clears the option', () => {
    given()
      .when(setSecret('SMTPToken', 'ref-1'))
      .then([secretSet('SMTPToken', '', 'ref-1')])
    const kept = given(secretSet('SMTPToken', '', 'ref-1'))
    kept.when(setSecret('SMTPToken', 'ref-1')).then([])
    kept.when(setSecret('SMTPToken', '')).then([secretSet('SMTPToken', 'ref-1', '')])
    given().when(setSecret('SMTPToken', '')).then([])
  })

  it('cannot be set as plain text, nor a plain option as a secret', () => {
    for (const [key, { isSecret }] of OPTIONS) {
      const error = isSecret ? 'secret' : 'not-secret'
      const command = isSecret ? setOption(key, 'canary') : setSecret(key, 'ref')
      given().when(command).then(codedError('InvalidOption', { key, error }))
    }
  })
})
