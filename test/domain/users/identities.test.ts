import { describe, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import type { LoginMethod } from '#domain/users/commands.ts'
import type { UserEvent } from '#domain/users/events.ts'
import { created, deleted, given, sealed } from './facts.ts'

type Provider = 'github' | 'oidc' | 'email'

const of = (provider: Provider, identityKey: string) => ({ provider, identityKey })
const bind = (provider: Provider, key: string, replaces: string | null = null) =>
  ({ type: 'BindIdentity', ...of(provider, key), identity: sealed('s-id'), replaces }) as const
const unbind = (
  provider: Provider,
  key: string,
  enabledLoginMethods: readonly LoginMethod[],
  expectedRemovedLoginMethods = 0,
) =>
  ({
    type: 'UnbindIdentity',
    ...of(provider, key),
    enabledLoginMethods,
    expectedRemovedLoginMethods,
  }) as const
const bound = (provider: Provider, key: string): UserEvent => ({
  type: 'IdentityBound',
  v: 1,
  data: { userId: 7, ...of(provider, key), identity: sealed('s-id') },
})
const unbound = (provider: Provider, key: string): UserEvent => ({
  type: 'IdentityUnbound',
  v: 1,
  data: { userId: 7, ...of(provider, key) },
})
const withoutPassword = (): UserEvent => {
  const { type, v, data } = created() as Extract<UserEvent, { type: 'UserCreated' }>
  return { type, v, data: { ...data, passwordRef: null } }
}
const giveUp = (enabledLoginMethods: readonly LoginMethod[], expectedRemovedLoginMethods = 0) =>
  ({ type: 'DropPasskeys', enabledLoginMethods, expectedRemovedLoginMethods }) as const
const gone: UserEvent = { type: 'UserPasskeysGone', v: 1, data: { userId: 7 } }
const ALL: readonly LoginMethod[] = ['password', 'github', 'oidc', 'email']

describe('the binding of an identity', () => {
  it('is recorded once, and can replace the previous identity', () => {
    given(created())
      .when(bind('github', 'a'))
      .then([bound('github', 'a')])
    given(created(), bound('github', 'a')).when(bind('github', 'a')).then([])
    given(created(), bound('github', 'a'))
      .when(bind('github', 'b', 'a'))
      .then([bound('github', 'b')])
  })

  it('is refused if another identity was bound meanwhile', () => {
    given(created(), bound('github', 'a'))
      .when(bind('github', 'b'))
      .then(codedError('IdentityChanged'))
    given(created(), bound('github', 'a'))
      .when(bind('github', 'b', 'c'))
      .then(codedError('IdentityChanged'))
  })

  it('is refused for a deleted user', () => {
    given(created(), deleted()).when(bind('github', 'a')).then(codedError('UserUnknown'))
  })
})

describe('the removal of an identity', () => {
  it('keeps the other identities bound', () => {
    given(withoutPassword(), bound('github', 'a'), bound('oidc', 'b'))
      .when(unbind('github', 'a', ALL))
      .then([unbound('github', 'a')])
    given(withoutPassword(), bound('github', 'a'), bound('oidc', 'b'), unbound('github', 'a'))
      .when(unbind('oidc', 'b', ALL, 1))
      .then(codedError('LastWayIn'))
  })

  it('is refused if it would remove the last enabled login method', () => {
    given(withoutPassword(), bound('github', 'a'))
      .when(unbind('github', 'a', ALL))
      .then(codedError('LastWayIn'))
    given(withoutPassword(), bound('github', 'a'), bound('oidc', 'b'))
      .when(unbind('github', 'a', ['password', 'github']))
      .then(codedError('LastWayIn'))
    given(created(), bound('github', 'a'))
      .when(unbind('github', 'a', ['github']))
      .then(codedError('LastWayIn'))
  })

  it('counts a passkey as a login method, and keeps the last passkey if none is left', () => {
    const facts = [withoutPassword(), bound('github', 'a')]
    given(...facts)
      .when(unbind('github', 'a', [...ALL, 'passkey']))
      .then([unbound('github', 'a')])
    given(...facts)
      .when(giveUp(['github']))
      .then([gone])
    given(...facts)
      .when(giveUp(['passkey']))
      .then([gone])
    given(...facts)
      .when(giveUp(['password', 'oidc']))
      .then(codedError('LastWayIn'))
    given(created(), deleted())
      .when(giveUp(['password']))
      .then(codedError('UserUnknown'))
  })

  it('is refused if another login method was removed meanwhile', () => {
    const facts = [created(), bound('github', 'a')]
    given(...facts, gone)
      .when(unbind('github', 'a', ALL))
      .then(codedError('WaysInChanged'))
    given(...facts, gone)
      .when(unbind('github', 'a', ALL, 1))
      .then([unbound('github', 'a')])
    given(...facts, unbound('github', 'a'))
      .when(giveUp(ALL))
      .then(codedError('WaysInChanged'))
    given(...facts, gone, unbound('github', 'a'))
      .when(giveUp(ALL, 2))
      .then([gone])
  })

  it('is allowed beside a password; a repeat changes nothing, another key is refused', () => {
    const facts = [created(), bound('github', 'a')]
    given(...facts)
      .when(unbind('github', 'a', ALL))
      .then([unbound('github', 'a')])
    given(...facts, unbound('github', 'a'))
      .when(unbind('github', 'a', ALL))
      .then([])
    given(...facts)
      .when(unbind('github', 'b', ALL))
      .then(codedError('IdentityChanged'))
  })
})
