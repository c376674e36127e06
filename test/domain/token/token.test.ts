import { describe, expect, it } from 'vitest'
import { refuse } from '#domain/shared/refusal.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import type { TokenEvent, TokenTerms } from '#domain/token/events.ts'
import { specificationOf } from '#test/support/decider.ts'

const { given } = specificationOf(tokenDecider)

const TERMS: TokenTerms = {
  name: 'laptop',
  expiresAt: null,
  group: '',
  models: null,
  allowIps: null,
  rateLimit: { isEnabled: false, periodSeconds: 60, count: 0, success: 0 },
}
const KEY = { keyLookup: 'hash', keyRef: 'ref-1', keyHint: 'wxyz' }
const of = { tokenId: 3, userId: 7 }
const createToken = { type: 'CreateToken', ...of, terms: TERMS, ...KEY } as const
const created: TokenEvent = { type: 'TokenCreated', v: 1, data: { ...of, terms: TERMS, ...KEY } }
const disabled: TokenEvent = { type: 'TokenDisabled', v: 1, data: of }
const enabled: TokenEvent = { type: 'TokenEnabled', v: 1, data: of }
const deleted: TokenEvent = { type: 'TokenDeleted', v: 1, data: of }
const changed = (terms: TokenTerms): TokenEvent => ({
  type: 'TokenTermsChanged',
  v: 1,
  data: { ...of, terms },
})
const changeTerms = (terms: TokenTerms, userId = 7) =>
  ({ type: 'ChangeTerms', userId, terms }) as const

describe('creating a token', () => {
  it('records its terms and where its key is, never the key', () => {
    given().when(createToken).then([created])
  })

  it('again with the same key changes nothing; with another, the id is taken', () => {
    given(created).when(createToken).then([])
    given(created)
      .when({ ...createToken, keyRef: 'ref-2' })
      .then(refuse('TokenExists'))
  })

  it.each(['', '  '])('needs a name, %j is none', (name) => {
    given()
      .when({ ...createToken, terms: { ...TERMS, name } })
      .then(refuse('NameRequired'))
  })
})

describe('changing a token', () => {
  const terms = { ...TERMS, name: 'server', models: ['a', 'b'] }

  it('records the new terms whole', () => {
    given(created)
      .when(changeTerms(terms))
      .then([changed(terms)])
  })

  it('to what it is changes nothing, whatever the order of its fields', () => {
    given(created, changed(terms)).when(changeTerms(terms)).then([])
    const reversed = Object.fromEntries(Object.entries(terms).reverse()) as TokenTerms
    given(created, changed(terms)).when(changeTerms(reversed)).then([])
  })

  it('tells a list of models from another order of them and from none', () => {
    const swapped = { ...terms, models: ['b', 'a'] }
    given(created, changed(terms))
      .when(changeTerms(swapped))
      .then([changed(swapped)])
    const every = { ...terms, models: null }
    given(created, changed(terms))
      .when(changeTerms(every))
      .then([changed(every)])
    const none = { ...terms, models: [] }
    given(created, changed(every))
      .when(changeTerms(none))
      .then([changed(none)])
  })

  it('needs a name', () => {
    given(created)
      .when(changeTerms({ ...TERMS, name: ' ' }))
      .then(refuse('NameRequired'))
  })

  it('off and on again, each once', () => {
    given(created).when({ type: 'DisableToken', userId: 7 }).then([disabled])
    given(created, disabled).when({ type: 'DisableToken', userId: 7 }).then([])
    given(created, disabled).when({ type: 'EnableToken', userId: 7 }).then([enabled])
    given(created).when({ type: 'EnableToken', userId: 7 }).then([])
    expect(given(created, disabled, enabled).state.token?.isEnabled).toBe(true)
  })
})

describe('a token that is not the asker’s', () => {
  const acts = [
    changeTerms(TERMS, 8),
    { type: 'EnableToken', userId: 8 },
    { type: 'DisableToken', userId: 8 },
    { type: 'DeleteToken', userId: 8 },
  ] as const

  it.each(acts)('looks like none at all to $type', (act) => {
    given(created).when(act).then(refuse('TokenUnknown'))
    given().when(act).then(refuse('TokenUnknown'))
  })

  it.each(acts)('as does a deleted one to its owner’s $type', (act) => {
    given(created, deleted)
      .when({ ...act, userId: 7 })
      .then(refuse('TokenUnknown'))
  })

  it('is deleted once, and its id stays taken', () => {
    given(created).when({ type: 'DeleteToken', userId: 7 }).then([deleted])
    given(created, deleted)
      .when({ ...createToken, keyRef: 'ref-2' })
      .then(refuse('TokenExists'))
  })
})
