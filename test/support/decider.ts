import { expect } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'

/** Returns the value as a store would return it: converted to JSON and back. */
export const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/**
 * Returns functions for a decider's tests: `given(…facts).when(command).then(facts or error)`. The
 * facts are folded in the form in which a store returns them. Each `when` also checks that deciding
 * does not change the state, and that the decided facts are plain JSON and can be folded.
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
    /** The decided facts; empty when the command was rejected. */
    facts: made,
    /** The state after the decided facts. */
    after: fold([...facts, ...made]),
    // biome-ignore lint/suspicious/noThenProperty: a specification reads so; nothing awaits it
    then: (expected: readonly E[] | R): void => expect(outcome).toStrictEqual(expected),
  }
}
