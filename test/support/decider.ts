import { expect } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'

/** As it comes back out of a store: JSON data alone. */
export const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/**
 * Words for a decider's tests: `given(…facts).when(command).then(facts or refusal)`. The facts are
 * folded as a store would give them; deciding must leave the state as it was, and what is decided
 * must fold in its turn and survive storing.
 */
export function specificationOf<State, Command, E extends Fact, R extends CodedError>(
  decider: Decider<State, Command, E, R>,
) {
  const fold = (facts: readonly E[]): State =>
    facts.map(stored).reduce(decider.evolve, decider.initialState())
  const given = (...facts: readonly E[]) => ({
    state: fold(facts),
    when: (command: Command) => decided(decider, fold, facts, command),
  })
  return { given }
}

function decided<State, Command, E extends Fact, R extends CodedError>(
  decider: Decider<State, Command, E, R>,
  fold: (facts: readonly E[]) => State,
  facts: readonly E[],
  command: Command,
) {
  const state = fold(facts)
  const outcome = decider.decide(command, state)
  expect(state, 'deciding changed the state').toEqual(fold(facts))
  const made = Array.isArray(outcome) ? (outcome as readonly E[]) : []
  expect(stored(made), 'a fact is no plain JSON').toStrictEqual(made)
  return {
    outcome,
    /** The facts recorded; none where the command was refused. */
    facts: made,
    /** The state once the outcome is recorded. */
    after: fold([...facts, ...made]),
    // biome-ignore lint/suspicious/noThenProperty: a specification reads so; nothing awaits it
    then: (expected: readonly E[] | R): void => expect(outcome).toStrictEqual(expected),
  }
}
