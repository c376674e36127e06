import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'

const FOLDER = import.meta.dirname

/** Every golden event there is, by its file's name without the ending. */
export const goldenNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''))

export const golden = (name: string): Fact =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Fact

/**
 * Commands and the golden events they led to, in order, and what these amount to. Events that were
 * recorded once must fold for ever to the same; and a decider that writes something else by now
 * needs a new version of the event, with a golden example of its own. A null command: an earlier
 * version, which is folded alone.
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
