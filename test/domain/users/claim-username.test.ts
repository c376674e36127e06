import { describe, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { usernameDecider } from '#domain/users/decide.ts'
import type { UsernameEvent } from '#domain/users/events.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(usernameDecider)

const claim = (userId: number) => ({ type: 'ClaimUsername', nameKey: 'hash', userId }) as const
const claimed = (userId: number): UsernameEvent => ({
  type: 'UsernameClaimed',
  v: 1,
  data: { nameKey: 'hash', userId },
})

describe('a username', () => {
  it('belongs to the user who claims it first', () => {
    given()
      .when(claim(7))
      .then([claimed(7)])
    given(claimed(7)).when(claim(8)).then(codedError('UsernameTaken'))
  })

  it('becomes free when its owner releases it; other users cannot release it', () => {
    const release = (userId: number) =>
      ({ type: 'ReleaseUsername', nameKey: 'hash', userId }) as const
    const released = {
      type: 'UsernameReleased',
      v: 1,
      data: { nameKey: 'hash', userId: 7 },
    } as const
    given(claimed(7)).when(release(8)).then([])
    given(claimed(7)).when(release(7)).then([released])
    given(claimed(7), released).when(release(7)).then([])
    given(claimed(7), released)
      .when(claim(8))
      .then([claimed(8)])
  })

  it('does not change if its owner claims it again', () => {
    given(claimed(7)).when(claim(7)).then([])
  })
})
