import { expect, it } from 'vitest'
import { UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { claimsOf, NO_RULES } from '#relay/limits/call-limit-claims.ts'
import { callRules, type LimitedCaller } from '#relay/limits/call-limit-rules.ts'
import { RelayToken } from '#relay/views/token-view.ts'

const LIMITED: LimitedCaller['userRate'] = {
  ...{ isEnabled: false, count: 0, success: 0, tokensPerMinute: 0, periodMs: 60_000 },
  ...{ byGroup: new Map(), byModel: new Map(), exemptGroup: null },
}
const tokenWith = (tokensPerMinute: number): RelayToken => {
  const terms = { ...UNRESTRICTED_TERMS, tokensPerMinute }
  return new RelayToken({ tokenId: 3, userId: 7, isEnabled: true, keyLookup: '', terms })
}
const limited = (token: RelayToken, perUser: number, userId = 7): LimitedCaller => ({
  ...{ userId, token, userRate: LIMITED, caps: { total: 9, perUser, perToken: 2 } },
})

it('claims that are kept for a token follow its user and the caps of the process', () => {
  const token = tokenWith(0)
  const claimsFor = (perUser: number, userId?: number) =>
    claimsOf([callRules(limited(token, perUser, userId), 100), NO_RULES]).claims
  const claims = (user: string, max: number) => [
    { kind: 'permits', key: `user:${user}`, max },
    { kind: 'permits', key: 'token:3', max: 2 },
  ]
  expect(claimsFor(5)).toEqual(claims('7', 5))
  expect(claimsFor(4)).toEqual(claims('7', 4))
  expect(claimsFor(4, 8)).toEqual(claims('8', 4))
})

it('claims of a token with a limit on AI tokens contain the estimate of each call', () => {
  const token = tokenWith(1_000)
  const estimates = [100, 200].map((estimate) => {
    const { claims } = claimsOf([callRules(limited(token, 5), estimate)])
    return claims.flatMap((claim) => (claim.kind === 'tokens' ? claim.estimate : []))
  })
  expect(estimates).toEqual([[100], [200]])
})
