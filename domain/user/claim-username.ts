import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { UsernameCommand, UsernameError } from './commands.ts'
import type { UsernameEvent } from './events.ts'

/** `userId` is null while no user has claimed the name. */
export type UsernameState = { readonly userId: number | null }

/**
 * The decider of one username. The first user who claims the name owns it until the user is erased.
 */
export const usernameDecider: Decider<
  UsernameState,
  UsernameCommand,
  UsernameEvent,
  UsernameError
> = {
  initialState: () => ({ userId: null }),
  decide: ({ type, ...data }, state) => {
    if (type === 'ReleaseUsername') {
      return state.userId === data.userId ? [{ type: 'UsernameReleased', v: 1, data }] : []
    }
    if (state.userId === data.userId) return []
    if (state.userId !== null) return codedError('UsernameTaken')
    return [{ type: 'UsernameClaimed', v: 1, data }]
  },
  evolve: (_state, { type, data }) => ({
    userId: type === 'UsernameClaimed' ? data.userId : null,
  }),
}
