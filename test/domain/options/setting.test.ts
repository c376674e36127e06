import { describe, expect, it } from 'vitest'
import { optionsDecider } from '#domain/options/decide.ts'
import type { OptionsEvent } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/registry.ts'
import { refuse } from '#domain/shared/refusal.ts'
import { specificationOf } from '#test/support/decider.ts'

const { given } = specificationOf(optionsDecider)

const set = (key: string, value: string): OptionsEvent => ({
  type: 'OptionSet',
  v: 1,
  data: { key, value },
})
const secretSet = (key: string, secretRef: string): OptionsEvent => ({
  type: 'SecretOptionSet',
  v: 1,
  data: { key, secretRef },
})
const setOption = (key: string, value: string) => ({ type: 'SetOption', key, value }) as const
const setSecret = (key: string, secretRef: string) =>
  ({ type: 'SetSecretOption', key, secretRef }) as const

describe('setting an option', () => {
  it('records the text as its check normalised it', () => {
    given()
      .when(setOption('RetryTimes', ' 03 '))
      .then([set('RetryTimes', '3')])
  })

  it('to what is in force changes nothing, whether set or by default', () => {
    given().when(setOption('RetryTimes', '0')).then([])
    given(set('RetryTimes', '3')).when(setOption('RetryTimes', '3')).then([])
    given(set('RetryTimes', '3'))
      .when(setOption('RetryTimes', '0'))
      .then([set('RetryTimes', '0')])
  })

  it('beyond its bounds is refused, naming option, fault and bounds', () => {
    const details = { key: 'RetryTimes', fault: 'above-maximum', minimum: 0, maximum: 3 }
    given().when(setOption('RetryTimes', '4')).then(refuse('InvalidOption', details))
  })

  it.each(['NoSuchOption', '', 'constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'called %j is refused, for there is none',
    (key) => {
      given().when(setOption(key, 'x')).then(refuse('UnknownOption', { key }))
      given().when(setSecret(key, 'ref')).then(refuse('UnknownOption', { key }))
    },
  )

  it('does not send back a name without end', () => {
    const { outcome } = given().when(setOption('x'.repeat(10_000), ''))
    expect(JSON.stringify(outcome).length).toBeLessThan(300)
  })
})

describe('a secret option', () => {
  it('records where the text is, once; empty clears it', () => {
    given()
      .when(setSecret('SMTPToken', 'ref-1'))
      .then([secretSet('SMTPToken', 'ref-1')])
    const kept = given(secretSet('SMTPToken', 'ref-1'))
    kept.when(setSecret('SMTPToken', 'ref-1')).then([])
    kept.when(setSecret('SMTPToken', '')).then([secretSet('SMTPToken', '')])
    given().when(setSecret('SMTPToken', '')).then([])
  })

  it('never comes as text, nor a plain one as a secret', () => {
    for (const [key, { isSecret }] of OPTIONS) {
      const fault = isSecret ? 'secret' : 'not-secret'
      const command = isSecret ? setOption(key, 'canary') : setSecret(key, 'ref')
      given().when(command).then(refuse('InvalidOption', { key, fault }))
    }
  })
})
