import { describe, expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { tokenIdsDecider } from '#domain/tokens/decide.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(tokenIdsDecider)
const take = (first: number, count: number, userId = 7) =>
  ({ type: 'AssignTokenIds', userId, first, count }) as const
const taken = (first: number, count: number, userId = 7) =>
  ({ type: 'TokenIdsTaken', v: 1, data: { userId, first, count } }) as const

describe('the ids of tokens', () => {
  it('are assigned without gaps from 1, as many as requested', () => {
    given()
      .when(take(1, 3))
      .then([taken(1, 3)])
    given(taken(1, 3))
      .when(take(4, 1, 8))
      .then([taken(4, 1, 8)])
    expect(given(taken(1, 3), taken(4, 2)).state.highest).toBe(5)
  })

  it('are refused if they are already in use or would leave a gap', () => {
    for (const first of [1, 3, 5]) {
      given(taken(1, 3))
        .when(take(first, 1, 8))
        .then(codedError('TokenExists'))
    }
  })
})
