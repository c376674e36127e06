import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { changed, changeTerms, createChannel, created, given, KEY, TERMS } from './facts.ts'

describe('creating a channel', () => {
  it('records its terms and where its key is', () => {
    given().when(createChannel()).then([created()])
  })

  it('tidies the address, so that one address is written one way', () => {
    given()
      .when(createChannel({ baseUrl: ' https://api.example.com// ' }))
      .then([created()])
  })

  it('again with the same key changes nothing; with another, the id is taken', () => {
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

describe('changing a channel', () => {
  it('records the new terms, with the key it had', () => {
    given(created())
      .when(changeTerms({ priority: 5 }))
      .then([changed({ priority: 5 })])
  })

  it('to what it is changes nothing', () => {
    given(created()).when(changeTerms({})).then([])
    given(created()).when(changeTerms({}, KEY)).then([])
    given(created())
      .when(changeTerms({ baseUrl: 'https://api.example.com/' }))
      .then([])
  })

  it('takes a new key alone', () => {
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

describe('a key goes only where it was given for', () => {
  const elsewhere = [
    { baseUrl: 'https://thief.example.com' },
    { baseUrl: '' },
    { baseUrl: 'http://api.example.com' },
    { type: 2 },
    { setting: '{"proxy":"http://thief.example.com:3128"}' },
    { setting: '{"proxy":"http://\\u0074hief.example.com:3128"}' },
  ]

  it.each(elsewhere)('%j needs the key again', (change) => {
    given(created()).when(changeTerms(change)).then(codedError('KeyRequired'))
    given(created()).when(changeTerms(change, KEY)).then(codedError('KeyRequired'))
    given(created())
      .when(changeTerms(change, 'ref-2'))
      .then([changed(change, 'ref-2')])
  })

  it('other extra settings leave it where it is', () => {
    const before = { setting: '{"proxy":"http://p:1","x":1}' }
    const after = { setting: '{"x":2,"proxy":"http://p:1"}' }
    given(created(before))
      .when(changeTerms(after))
      .then([changed(after)])
  })
})

describe('what a channel’s provider charges', () => {
  const priced = given(created({ costRatio: '0.6' }))

  it('is kept as a plain decimal: the same number typed otherwise changes nothing', () => {
    given()
      .when(createChannel({ costRatio: '0.60' }))
      .then([created({ costRatio: '0.6' })])
    priced.when(changeTerms({ costRatio: '6e-1' })).then([])
    const [changed] = priced.when(changeTerms({ costRatio: '0.000001' })).facts
    expect(changed?.data).toMatchObject({ terms: { costRatio: '0.000001' } })
  })

  it('is no longer known once it is emptied', () => {
    const [changed] = priced.when(changeTerms({ costRatio: '' })).facts
    expect(changed?.data).toMatchObject({ terms: TERMS })
    expect(JSON.stringify(changed)).not.toContain('costRatio')
    given(created())
      .when(changeTerms({ costRatio: '' }))
      .then([])
  })

  it.each(['-1', 'x', '0.0000001', '1000.000001', '1e9', 'NaN'])(
    'is refused as %s',
    (costRatio) => {
      const details = { field: 'cost_ratio', fault: 'not-cost-ratio' }
      given().when(createChannel({ costRatio })).then(codedError('InvalidField', details))
    },
  )

  it.each(['0', '1000', '12.345678'])('may be %s', (costRatio) => {
    given()
      .when(createChannel({ costRatio }))
      .then([created({ costRatio })])
  })
})
