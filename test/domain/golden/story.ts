import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'

const FOLDER = import.meta.dirname

/** All golden events, by the names of their files without the extension. */
export const goldenNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''))

export const golden = (name: string): Fact =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Fact

/**
 * Commands with the golden events that they caused, in order, and the resulting state. Recorded
 * events must always fold to the same state. If a decider produces a different event, the event
 * needs a new version and a golden example. A null command stands for an earlier version, which is
 * folded alone.
 */
export function story<State, Command, E extends Fact, R extends CodedError>(
  title: string,
  decider: Decider<State, Command, E, R>,
  acts: readonly (readonly [name: string, command: Command | null])[],
  becomes: unknown,
): void {
  it(`are still decided and folded the same way: ${title}`, () => {
    let state = decider.initialState()
    for (const [name, command] of acts) {
      const event = golden(name) as E
      if (command !== null) {
        expect(decider.decide(command, state), name).toStrictEqual([event])
      }
      state = decider.evolve(state, event)
    }
    expect(decider.snapshot?.encode(state) ?? state).toEqual(becomes)
  })
}
