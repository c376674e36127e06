import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { TOKENS_MAX, tokenDecider } from '#domain/tokens/decide.ts'
import { type TokenEvent, type TokenTerms, UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(tokenDecider)

const sealed = (text: string) => `sealed:${text}` as Sealed
const NAMED: TokenTerms = { ...UNRESTRICTED_TERMS, name: sealed('token 3') }
const token = (tokenId: number, keyRef = `ref-${tokenId}`) => ({
  tokenId,
  name: sealed(`token ${tokenId}`),
  keyLookup: `hash-${keyRef}`,
  keyRef,
  keyHint: 'wxyz',
})
type New = ReturnType<typeof token>
const createTokens = (...tokens: New[]) =>
  ({ type: 'CreateTokens', userId: 7, terms: UNRESTRICTED_TERMS, tokens }) as const
const created = (...tokens: New[]): TokenEvent => ({
  type: 'TokensCreated',
  v: 2,
  data: { userId: 7, terms: UNRESTRICTED_TERMS, tokens },
})
const fact = (type: 'TokensEnabled' | 'TokensDisabled' | 'TokensDeleted', ...tokenIds: number[]) =>
  ({ type, v: 1, data: { userId: 7, tokenIds } }) as TokenEvent
const changed = (terms: TokenTerms): TokenEvent => ({
  type: 'TokenTermsChanged',
  v: 2,
  data: { userId: 7, tokenId: 3, terms },
})
const changeTerms = (terms: TokenTerms, tokenId = 3) =>
  ({ type: 'ChangeTerms', userId: 7, tokenId, terms }) as const
const act = (type: 'EnableTokens' | 'DisableTokens' | 'DeleteTokens', ...tokenIds: number[]) => ({
  type,
  userId: 7,
  tokenIds,
  now: 100,
  exhausted: [] as number[],
  names: new Map(tokenIds.map((id) => [id, `token ${id}`])),
})
const three = created(token(3), token(4), token(5))

describe('the creation of tokens', () => {
  it('records many tokens in one event, with references to their keys', () => {
    given()
      .when(createTokens(token(3), token(4), token(5)))
      .then([three])
  })

  it('changes nothing if repeated with the same keys, and is refused with other keys', () => {
    given(three)
      .when(createTokens(token(3), token(4), token(5)))
      .then([])
    given(three)
      .when(createTokens(token(3, 'other')))
      .then(codedError('TokenExists'))
    given(three, fact('TokensDeleted', 3, 4, 5))
      .when(createTokens(token(4)))
      .then(codedError('TokenExists'))
  })

  it('is refused as a whole if the tokens would exceed the limit', () => {
    const full = created(...Array.from({ length: TOKENS_MAX - 1 }, (_, n) => token(n + 1)))
    const refusal = codedError('TooManyTokens', { limit: TOKENS_MAX })
    given(full)
      .when(createTokens(token(2001), token(2002)))
      .then(refusal)
    given(full, fact('TokensDeleted', 9))
      .when(createTokens(token(2001), token(2002)))
      .then([created(token(2001), token(2002))])
  })
})

describe('a change of a token', () => {
  const terms = { ...NAMED, name: sealed('server'), models: ['a', 'b'], maxConcurrency: 2 }

  it('records all of the new terms', () => {
    given(three)
      .when(changeTerms(terms))
      .then([changed(terms)])
  })

  it('is not recorded if nothing differs, whatever the order of fields', () => {
    given(three).when(changeTerms(NAMED)).then([])
    const reversed = Object.fromEntries(Object.entries(terms).reverse()) as TokenTerms
    given(three, changed(terms)).when(changeTerms(reversed)).then([])
  })

  it('treats a list of models, another order of it, an empty list and no list as different', () => {
    for (const models of [['b', 'a'], [], null]) {
      given(three, changed(terms))
        .when(changeTerms({ ...terms, models }))
        .then([changed({ ...terms, models })])
    }
  })

  it('seals a name that was recorded as plain text', () => {
    const tokens = [{ ...token(3), name: 'token 3' }] as unknown as New[]
    const plain = { ...created(...tokens), v: 1 } as TokenEvent
    const { state } = given(plain)
    expect(state.tokens.get(3)?.terms).toEqual({
      ...UNRESTRICTED_TERMS,
      name: { plain: 'token 3' },
    })
    given(plain)
      .when(changeTerms(NAMED))
      .then([changed(NAMED)])
    given(plain, changed(NAMED)).when(changeTerms(NAMED)).then([])
  })
})

describe('a batch command for tokens', () => {
  it('switches only tokens that differ, each once even if it is listed twice', () => {
    given(three)
      .when(act('DisableTokens', 3, 4, 3))
      .then([fact('TokensDisabled', 3, 4)])
    given(three, fact('TokensDisabled', 3))
      .when(act('DisableTokens', 3, 4))
      .then([fact('TokensDisabled', 4)])
    given(three)
      .when(act('EnableTokens', 3, 4, 5))
      .then([])
    const { state } = given(three, fact('TokensDisabled', 3, 4), fact('TokensEnabled', 4))
    expect([...state.tokens].map(([id, { isEnabled }]) => [id, isEnabled])).toEqual([
      [3, false],
      [4, true],
      [5, true],
    ])
  })

  it.each(['EnableTokens', 'DisableTokens', 'DeleteTokens'] as const)(
    'is refused as a whole by %s for an unknown token, which the error names',
    (type) => {
      given(three)
        .when(act(type, 3, 99, 4))
        .then(codedError('TokenUnknown', { tokenId: 99 }))
      given(three, fact('TokensDeleted', 4))
        .when(act(type, 3, 4))
        .then(codedError('TokenUnknown', { tokenId: 4 }))
      given().when(act(type, 3)).then(codedError('TokenUnknown'))
    },
  )

  it('enables none if some have expired or are exhausted, and the error names them', () => {
    const dated: TokenEvent = {
      ...created(token(3)),
      data: { userId: 7, terms: { ...UNRESTRICTED_TERMS, expiresAt: 100 }, tokens: [token(3)] },
    } as TokenEvent
    const facts = [dated, created(token(4), token(5)), fact('TokensDisabled', 3, 4, 5)]
    const enable = act('EnableTokens', 3, 4, 5)
    given(...facts)
      .when(enable)
      .then(codedError('TokenExpired', { names: 'token 3' }))
    given(...facts)
      .when({ ...enable, now: 99, exhausted: [5, 4] })
      .then(codedError('TokenExhausted', { names: 'token 4, token 5' }))
    given(...facts)
      .when(act('EnableTokens', 3))
      .then(codedError('TokenExpired'))
    given(...facts)
      .when({ ...enable, now: 99 })
      .then([fact('TokensEnabled', 3, 4, 5)])
    given(...facts)
      .when(act('DisableTokens', 3, 4, 5))
      .then([])
  })

  it('deletes tokens permanently', () => {
    given(three)
      .when(act('DeleteTokens', 3, 5))
      .then([fact('TokensDeleted', 3, 5)])
    const deleted = given(three, fact('TokensDeleted', 3, 5))
    expect([...deleted.state.tokens.keys()]).toEqual([4])
    deleted.when(changeTerms(NAMED)).then(codedError('TokenUnknown'))
  })
})

it('a snapshot of the tokens restores the same tokens', () => {
  const { state } = given(three, fact('TokensDeleted', 5), fact('TokensDisabled', 4))
  const { snapshot } = tokenDecider
  const kept = JSON.parse(JSON.stringify(snapshot?.encode(state)))
  expect(snapshot?.decode(kept)).toEqual(state)
})
