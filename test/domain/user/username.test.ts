import { describe, it } from 'vitest'
import { refuse } from '#domain/shared/refusal.ts'
import type { UsernameEvent } from '#domain/user/events.ts'
import { usernameDecider } from '#domain/user/username.ts'
import { specificationOf } from '#test/support/decider.ts'

const { given } = specificationOf(usernameDecider)

const claim = (userId: number) => ({ type: 'ClaimUsername', nameKey: 'hash', userId }) as const
const claimed = (userId: number): UsernameEvent => ({
  type: 'UsernameClaimed',
  v: 1,
  data: { nameKey: 'hash', userId },
})

describe('a username', () => {
  it('belongs to whoever claims it first, for ever', () => {
    given()
      .when(claim(7))
      .then([claimed(7)])
    given(claimed(7)).when(claim(8)).then(refuse('UsernameTaken'))
  })

  it('claimed again by its owner changes nothing', () => {
    given(claimed(7)).when(claim(7)).then([])
  })
})
