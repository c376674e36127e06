import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { changed, changeTerms, createChannel, created, given, KEY, TERMS } from './facts.ts'

describe('the creation of a channel', () => {
  it('records the channel’s terms and the reference of its key', () => {
    given().when(createChannel()).then([created()])
  })

  it('normalizes the address, so that equal addresses have the same text', () => {
    given()
      .when(createChannel({ baseUrl: ' https://api.example.com// ' }))
      .then([created()])
  })

  it('changes nothing if repeated with the same key, and is refused with another key', () => {
    given(created()).when(createChannel()).then([])
    given(created())
      .when(createChannel({}, 'ref-2'))
      .then(codedError('ChannelExists', { next: 5 }))
  })

  it('needs a name, a model and a key', () => {
    given()
      .when(createChannel({ name: ' ' }))
      .then(codedError('NameRequired'))
    given()
      .when(createChannel({ models: [] }))
      .then(codedError('ModelsRequired'))
    given().when(createChannel({}, '')).then(codedError('KeyRequired'))
  })
})

describe('a change of a channel', () => {
  it('records the new terms, with the key that the channel had', () => {
    given(created())
      .when(changeTerms({ priority: 5 }))
      .then([changed({ priority: 5 })])
  })

  it('is not recorded if nothing differs', () => {
    given(created()).when(changeTerms({})).then([])
    given(created()).when(changeTerms({}, KEY)).then([])
    given(created())
      .when(changeTerms({ baseUrl: 'https://api.example.com/' }))
      .then([])
  })

  it('can replace the key alone', () => {
    given(created())
      .when(changeTerms({}, 'ref-2'))
      .then([changed({}, 'ref-2')])
  })

  it('needs a name, a model and a key', () => {
    given(created())
      .when(changeTerms({ name: '' }))
      .then(codedError('NameRequired'))
    given(created())
      .when(changeTerms({ models: [] }))
      .then(codedError('ModelsRequired'))
    given(created()).when(changeTerms({}, '')).then(codedError('KeyRequired'))
  })
})

describe('the rule that a key goes only to the address it was entered for', () => {
  const elsewhere = [
    { baseUrl: 'https://thief.example.com' },
    { baseUrl: '' },
    { baseUrl: 'http://api.example.com' },
    { type: 2 },
    { setting: '{"proxy":"http://thief.example.com:3128"}' },
    { setting: '{"proxy":"http://\\u0074hief.example.com:3128"}' },
  ]

  it.each(elsewhere)('requires the key again for the change %j', (change) => {
    given(created()).when(changeTerms(change)).then(codedError('KeyRequired'))
    given(created()).when(changeTerms(change, KEY)).then(codedError('KeyRequired'))
    given(created())
      .when(changeTerms(change, 'ref-2'))
      .then([changed(change, 'ref-2')])
  })

  it('keeps the key when other extra settings change', () => {
    const before = { setting: '{"proxy":"http://p:1","x":1}' }
    const after = { setting: '{"x":2,"proxy":"http://p:1"}' }
    given(created(before))
      .when(changeTerms(after))
      .then([changed(after)])
  })
})

describe('the cost ratio of a channel’s provider', () => {
  const priced = given(created({ costRatio: '0.6' }))

  it('is stored as a plain decimal; the same number in another notation changes nothing', () => {
    given()
      .when(createChannel({ costRatio: '0.60' }))
      .then([created({ costRatio: '0.6' })])
    priced.when(changeTerms({ costRatio: '6e-1' })).then([])
    const [changed] = priced.when(changeTerms({ costRatio: '0.000001' })).facts
    expect(changed?.data).toMatchObject({ terms: { costRatio: '0.000001' } })
  })

  it('is removed when its field is emptied', () => {
    const [changed] = priced.when(changeTerms({ costRatio: '' })).facts
    expect(changed?.data).toMatchObject({ terms: TERMS })
    expect(JSON.stringify(changed)).not.toContain('costRatio')
    given(created())
      .when(changeTerms({ costRatio: '' }))
      .then([])
  })

  it.each(['-1', 'x', '0.0000001', '1000.000001', '1e9', 'NaN'])(
    'is refused if it is %s',
    (costRatio) => {
      const details = { field: 'cost_ratio', error: 'not-cost-ratio' }
      given().when(createChannel({ costRatio })).then(codedError('InvalidField', details))
    },
  )

  it.each(['0', '1000', '12.345678'])('can be %s', (costRatio) => {
    given()
      .when(createChannel({ costRatio }))
      .then([created({ costRatio })])
  })
})
