import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import type { UsernameCommand } from './commands.ts'
import type { UsernameEvent } from './events.ts'
import type { UsernameRefusal } from './refusals.ts'

export type UsernameState = { readonly userId: number | null }

/** A name belongs to the first user who claimed it, for ever. */
export const usernameDecider: Decider<
  UsernameState,
  UsernameCommand,
  UsernameEvent,
  UsernameRefusal
> = {
  initialState: () => ({ userId: null }),
  decide: ({ nameKey, userId }, state) => {
    if (state.userId === userId) return []
    if (state.userId !== null) return refuse('UsernameTaken')
    return [{ type: 'UsernameClaimed', v: 1, data: { nameKey, userId } }]
  },
  evolve: (_state, { data }) => ({ userId: data.userId }),
}
