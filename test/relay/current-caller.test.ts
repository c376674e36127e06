import { beforeEach, describe, expect, it } from 'vitest'
import { type SharedTerms, UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { DEFAULT_SETTINGS } from '#domain/users/events.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { changedAccessError, currentCaller } from '#relay/pipeline/current-caller.ts'
import { RelayToken, TokenView } from '#relay/views/token-view.ts'
import { type RelayUser, UserView } from '#relay/views/user-view.ts'

const userId = 7
const row = { tokenId: 3, userId, terms: UNRESTRICTED_TERMS, isEnabled: true, keyLookup: 'hash' }
const exchange = { clientIp: '10.0.0.1' }
let users: UserView
let tokens: TokenView
let now: number
let usableGroups: ReadonlySet<string>

const userIn = (group: string): RelayUser => ({
  ...{ userId, role: 1, isEnabled: true, group, settings: DEFAULT_SETTINGS },
})
const depsOf = () =>
  ({
    views: { users, tokens, options: { options: { usableGroups } } },
    ...{ vault: {}, now: () => now },
  }) as unknown as Parameters<typeof currentCaller>[0]
const found = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('missing')
  return value
}
const withKey = (): Caller => ({
  ...{ token: found(tokens.find('hash')), user: found(users.find(userId)) },
  ...{ group: 'default', pinnedChannelId: null },
})
const ofPlayground = (hasEnded = false): Caller => ({
  ...withKey(),
  ...{ token: new RelayToken({ ...row, keyLookup: '' }), hasSessionEnded: () => hasEnded },
})

beforeEach(() => {
  users = new UserView()
  tokens = new TokenView()
  now = 1_000_000
  usableGroups = new Set(['auto', 'cheap'])
  users.put(userIn('default'))
  tokens.put(row)
})

describe('a caller of which nothing has changed', () => {
  it.each([
    ['with a key', withKey],
    ['of the playground', () => ofPlayground()],
  ])('%s is returned as it is, without a promise', async (_name, callerOf) => {
    const caller = callerOf()
    expect(currentCaller(depsOf(), caller, exchange)).toBe(caller)
    expect(await changedAccessError(depsOf(), caller, exchange)).toBeNull()
  })

  it('is refused once its token has expired', () => {
    tokens.put({ ...row, terms: { ...UNRESTRICTED_TERMS, expiresAt: 1_001 } })
    const caller = withKey()
    expect(currentCaller(depsOf(), caller, exchange)).toBe(caller)
    now = 1_001_000
    expect(currentCaller(depsOf(), caller, exchange)).toMatchObject({ code: 'token_expired' })
  })
})

describe('a caller of the playground', () => {
  it('is refused once its session has ended', () => {
    const code = 'session_ended'
    expect(currentCaller(depsOf(), ofPlayground(true), exchange)).toMatchObject({ code })
  })

  it('is refused once its user is disabled', () => {
    const caller = ofPlayground()
    users.put({ ...userIn('default'), isEnabled: false })
    const code = 'user_disabled'
    expect(currentCaller(depsOf(), caller, exchange)).toMatchObject({ code })
  })

  it('has the group into which its user was moved', () => {
    const caller = ofPlayground()
    users.put(userIn('other'))
    expect(currentCaller(depsOf(), caller, exchange)).toMatchObject({ group: 'other' })
  })
})

describe('a plan', () => {
  const withModels = { ...UNRESTRICTED_TERMS, models: ['a', 'b'] }
  const putTerms = (terms: SharedTerms) => tokens.put({ ...row, terms })

  it.each<[string, SharedTerms, () => void]>([
    ['is limited to some models', UNRESTRICTED_TERMS, () => putTerms(withModels)],
    ['loses a model', withModels, () => putTerms({ ...withModels, models: ['b', 'c'] })],
    ['has another group', withModels, () => putTerms({ ...withModels, group: 'other' })],
    ['has a user with another group', withModels, () => users.put(userIn('other'))],
  ])('is refused for now if its token %s', async (_name, terms, change) => {
    putTerms(terms)
    const caller = withKey()
    change()
    const code = 'overloaded'
    expect(await changedAccessError(depsOf(), caller, exchange)).toMatchObject({ code })
  })

  it.each<[string, object]>([
    ['has another name', {}],
    ['may use more models', { models: ['c', 'b', 'a'] }],
    ['may use all models', { models: null }],
    ['expires later', { expiresAt: 9_000 }],
    ['has another rate limit', { tokensPerMinute: 1, maxConcurrency: 1 }],
  ])('is kept if its token only %s', async (_name, change) => {
    putTerms(withModels)
    const caller = withKey()
    putTerms({ ...withModels, ...change })
    expect(await changedAccessError(depsOf(), caller, exchange)).toBeNull()
  })

  it('is refused if its token may no longer be used', async () => {
    const caller = withKey()
    tokens.put({ ...row, isEnabled: false })
    const code = 'token_disabled'
    expect(await changedAccessError(depsOf(), caller, exchange)).toMatchObject({ code })
  })

  it.each([
    ['the group auto of its token is closed to users', ['cheap'], 'group_not_allowed'],
    ['its own group, one of auto, is closed to users', ['auto'], 'overloaded'],
  ])('is refused if %s', async (_name, left, code) => {
    putTerms({ ...UNRESTRICTED_TERMS, group: 'auto' })
    const caller = { ...withKey(), group: 'cheap' }
    expect(await changedAccessError(depsOf(), caller, exchange)).toBeNull()
    usableGroups = new Set(left)
    expect(await changedAccessError(depsOf(), caller, exchange)).toMatchObject({ code })
  })

  it('is kept if only settings of the user have changed, which do not concern it', async () => {
    const caller = withKey()
    const settings = { ...DEFAULT_SETTINGS, showIpInLogs: !DEFAULT_SETTINGS.showIpInLogs }
    users.put({ ...userIn('default'), settings })
    expect(await changedAccessError(depsOf(), caller, exchange)).toBeNull()
  })
})
