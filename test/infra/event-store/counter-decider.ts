import { type CodedError, codedError } from '#domain/shared/coded-error.ts'
import type { Decider } from '#domain/shared/decider.ts'
import type { Fact } from '#domain/shared/event.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'

export type Counted = Fact<'Counted', { by: number; note?: string }>
export type CounterState = { total: number; bound: number }
export type CounterCommand =
  | { type: 'Add'; by: number; note?: string }
  | { type: 'Ensure'; atLeast: number }
  | { type: 'Crash' }
type CounterError = CodedError<'TooMuch'>

/**
 * A decider for a counter that never exceeds `bound`. It reveals lost, repeated and outdated
 * decisions.
 */
export const counterDecider = (
  bound: number,
): Decider<CounterState, CounterCommand, Counted, CounterError> => ({
  initialState: () => ({ total: 0, bound }),
  decide: (command, state) => {
    if (command.type === 'Crash') throw new Error('a bug in decide')
    const by = command.type === 'Add' ? command.by : command.atLeast - state.total
    if (by <= 0) return []
    if (state.total + by > state.bound) return codedError('TooMuch')
    const note = command.type === 'Add' && command.note !== undefined ? { note: command.note } : {}
    return [{ type: 'Counted', v: 1, data: { by, ...note } }]
  },
  evolve: (state, { data }) => {
    if (data.note === 'break evolve') throw new Error('a bug in evolve')
    state.total += data.by
    return state
  },
  snapshot: {
    version: 1,
    encode: ({ total }) => ({ total }),
    decode: (stored) => ({ total: (stored as { total: number }).total, bound }),
  },
})

export const context: CommandContext = {
  actor: 'user:1',
  cause: 'request-1',
  at: 1_795_000_000_000,
}
export const add = (by = 1): CounterCommand => ({ type: 'Add', by })
