import { describe, it } from 'vitest'
import { identityDecider } from '#domain/identities/decide.ts'
import type { IdentityEvent } from '#domain/identities/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(identityDecider)

const of = (userId: number) => ({ provider: 'github', identityKey: 'hash', userId }) as const
const claim = (userId: number) => ({ type: 'ClaimIdentity', ...of(userId) }) as const
const release = (userId: number) => ({ type: 'ReleaseIdentity', ...of(userId) }) as const
const claimed = (userId: number): IdentityEvent => ({
  type: 'IdentityClaimed',
  v: 1,
  data: of(userId),
})
const released = (userId: number): IdentityEvent => ({
  type: 'IdentityReleased',
  v: 1,
  data: of(userId),
})

describe('an identity', () => {
  it('belongs to the user who claims it first', () => {
    given()
      .when(claim(7))
      .then([claimed(7)])
    given(claimed(7))
      .when(claim(8))
      .then(codedError('IdentityTaken', { provider: 'github' }))
  })

  it('does not change if its owner claims it again', () => {
    given(claimed(7)).when(claim(7)).then([])
  })

  it('becomes free when its owner releases it; other users cannot release it', () => {
    given(claimed(7)).when(release(8)).then([])
    given(claimed(7))
      .when(release(7))
      .then([released(7)])
    given(claimed(7), released(7)).when(release(7)).then([])
    given(claimed(7), released(7))
      .when(claim(8))
      .then([claimed(8)])
  })
})
