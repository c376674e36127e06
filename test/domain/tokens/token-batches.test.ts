import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { type TokenCommand, tokenDecider } from '#domain/tokens/decide.ts'
import { type TokenEvent, UNRESTRICTED_TERMS } from '#domain/tokens/events.ts'
import { stored } from '#test/support/given-when-then.ts'

const USER = 7

type Step =
  | { readonly kind: 'create'; readonly count: number }
  | { readonly kind: 'enable' | 'disable' | 'delete'; readonly ids: readonly number[] }
  | { readonly kind: 'rename'; readonly id: number; readonly name: string }

const id = fc.integer({ min: 1, max: 6 })
const ids = fc.array(id, { maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constantFrom('enable', 'disable', 'delete'), ids }),
  fc.record({
    kind: fc.constant('rename' as const),
    id,
    name: fc.constantFrom('a', 'b', 'c'),
  }),
)

/** A minimal model of the tokens: their names and whether they are enabled, by id. */
type Plain = Map<number, { name: string; isOn: boolean }>

/** Returns the expected tokens after the step, or null if the whole step must be refused. */
function carriedOut(before: Plain, given: Step, next: number): Plain | null {
  const after: Plain = new Map([...before].map(([id, token]) => [id, { ...token }]))
  if (given.kind === 'create') {
    for (let n = 0; n < given.count; n += 1) after.set(next + n, { name: `t${n}`, isOn: true })
    return after
  }
  if (given.kind === 'rename') {
    const token = after.get(given.id)
    if (token === undefined) return null
    token.name = given.name
    return after
  }
  for (const id of given.ids) {
    if (!before.has(id)) return null
    if (given.kind === 'delete') after.delete(id)
    else after.set(id, { name: before.get(id)?.name ?? '', isOn: given.kind === 'enable' })
  }
  return after
}

function commandOf(given: Step, next: number): TokenCommand {
  if (given.kind === 'create') {
    const tokens = Array.from({ length: given.count }, (_, n) => ({
      tokenId: next + n,
      name: `t${n}` as Sealed,
      keyLookup: `hash-${next + n}`,
      keyRef: `ref-${next + n}`,
      keyHint: 'wxyz',
    }))
    return { type: 'CreateTokens', userId: USER, terms: UNRESTRICTED_TERMS, tokens }
  }
  if (given.kind === 'rename') {
    const terms = { ...UNRESTRICTED_TERMS, name: given.name as Sealed }
    return { type: 'ChangeTerms', userId: USER, tokenId: given.id, terms }
  }
  const types = {
    enable: 'EnableTokens',
    disable: 'DisableTokens',
    delete: 'DeleteTokens',
  } as const
  const usable = { now: 0, exhausted: [], names: new Map() }
  return { type: types[given.kind], userId: USER, tokenIds: given.ids, ...usable }
}

const replay = (events: readonly TokenEvent[]) =>
  events.reduce(tokenDecider.evolve, tokenDecider.initialState())

const plainOf = ({ tokens }: ReturnType<typeof replay>): Plain =>
  new Map(
    [...tokens].map(([id, token]) => [
      id,
      { name: String(token.terms.name), isOn: token.isEnabled },
    ]),
  )

describe('a user’s tokens after a random sequence of commands', () => {
  it('match a simple model; each command records one event, none, or is refused', () => {
    const seen = new Set<string>()
    const property = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const events: TokenEvent[] = []
      let plain: Plain = new Map()
      let next = 1
      for (const given of [{ kind: 'create', count: 4 } as const, ...steps]) {
        const state = replay(stored(events))
        const outcome = tokenDecider.decide(commandOf(given, next), state)
        const after = carriedOut(plain, given, next)
        expect(isCodedError(outcome)).toBe(after === null)
        if (after === null || isCodedError(outcome)) {
          seen.add('refused')
          continue
        }
        expect(outcome.length).toBeLessThanOrEqual(1)
        events.push(...outcome)
        for (const { type } of outcome) seen.add(type)
        expect(plainOf(replay(events))).toEqual(after)
        // A repeated command changes nothing, or fails because the tokens no longer exist.
        const again = tokenDecider.decide(commandOf(given, next), replay(events))
        expect(isCodedError(again) || again.length === 0).toBe(true)
        if (given.kind === 'create') next += given.count
        plain = after
      }
    })
    fc.assert(property, { numRuns: 500 })
    expect([...seen].sort()).toEqual([
      'TokenTermsChanged',
      'TokensCreated',
      'TokensDeleted',
      'TokensDisabled',
      'TokensEnabled',
      'refused',
    ])
  })
})
