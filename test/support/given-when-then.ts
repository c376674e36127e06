import { expect } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'

/** Converts the value to JSON and back, like a store. */
export const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/**
 * Returns `given(…facts).when(command).then(facts or error)`. Facts are folded as a store returns
 * them. `when` also checks that deciding does not change the state, and that decided facts are
 * plain JSON and can be folded.
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
    /** Empty if the command was rejected. */
    facts: made,
    /** The state after the decided facts. */
    after: fold([...facts, ...made]),
    // biome-ignore lint/suspicious/noThenProperty: a specification reads so; nothing awaits it
    then: (expected: readonly E[] | R): void => expect(outcome).toStrictEqual(expected),
  }
}
