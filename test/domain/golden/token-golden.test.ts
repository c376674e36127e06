import { describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { tokenDecider, tokenIdsDecider } from '#domain/tokens/decide.ts'
import { type SharedTerms, type TokenEvent, upcastToken } from '#domain/tokens/events.ts'
import { golden, story } from './story.ts'

/** The fields at the time of the recording. Fields that were added later are absent. */
const RECORDED_TERMS: Partial<SharedTerms> = {
  expiresAt: 1_830_000_000,
  group: 'vip',
  models: ['gpt-4o', 'm'],
  allowIps: 'sealed:ips' as Sealed,
  rateLimit: { isEnabled: true, periodSeconds: 60, count: 10, success: 5 },
  tokensPerMinute: 90_000,
  maxConcurrency: 4,
}
const TOKEN_TERMS = RECORDED_TERMS as SharedTerms
const LAPTOPS = [
  { tokenId: 5, name: 'sealed:laptop', keyLookup: 'a2b3c4', keyRef: 'key-3', keyHint: 'abcd' },
  {
    ...{ tokenId: 6, name: 'sealed:laptop-x1Y2z3' },
    ...{ keyLookup: 'd5e6f7', keyRef: 'key-4', keyHint: 'efgh' },
  },
].map((token) => ({ ...token, name: token.name as Sealed }))
const BOTH = { userId: 7, tokenIds: [3, 4] }
const changedTerms = {
  ...{ ...TOKEN_TERMS, name: 'sealed:server' as Sealed },
  ...{ expiresAt: null, models: null },
}

describe('an earlier version of a token event', () => {
  it.each(['tokens-created', 'token-terms-changed'])(
    '%s is converted to the newest version, with plain names',
    (name) => {
      const [old, newest] = [golden(`${name}-v1`), golden(`${name}-v2`)] as TokenEvent[]
      if (old === undefined || newest === undefined) throw new Error('no such events')
      const upcast = upcastToken(old)
      expect(upcast.v).toBe(newest.v)
      const names = JSON.stringify(old.data).matchAll(/"name":("[^"]*")/g)
      const expected = [...names].reduce(
        (text, [found, plain]) => text.replace(found, `"name":{"plain":${plain}}`),
        JSON.stringify(old.data),
      )
      expect(JSON.stringify(upcast.data)).toBe(expected)
      expect(upcastToken(newest)).toBe(newest)
    },
  )
})

describe('the events of tokens, as first recorded', () => {
  story(
    'a user’s tokens',
    tokenDecider,
    [
      ['tokens-created-v1', null],
      ['token-terms-changed-v1', null],
      [
        'tokens-created-v2',
        { type: 'CreateTokens', userId: 7, terms: TOKEN_TERMS, tokens: LAPTOPS },
      ],
      [
        'token-terms-changed-v2',
        { type: 'ChangeTerms', userId: 7, tokenId: 3, terms: changedTerms },
      ],
      ['tokens-disabled-v1', { type: 'DisableTokens', ...BOTH }],
      [
        'tokens-enabled-v1',
        { type: 'EnableTokens', ...BOTH, now: 0, exhausted: [], names: new Map() },
      ],
      ['tokens-deleted-v1', { type: 'DeleteTokens', userId: 7, tokenIds: [4] }],
    ],
    {
      tokens: [
        [3, { keyRef: 'key-1', terms: changedTerms, isEnabled: true }],
        ...LAPTOPS.map(({ tokenId, keyRef, name }) => [
          tokenId,
          { keyRef, terms: { ...TOKEN_TERMS, name }, isEnabled: true },
        ]),
      ],
      highestId: 6,
    },
  )
  story(
    'the ids of tokens',
    tokenIdsDecider,
    [['token-ids-taken-v1', { type: 'AssignTokenIds', userId: 7, first: 1, count: 4 }]],
    { highest: 4 },
  )
})
