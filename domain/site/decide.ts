import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import type { InitializeSite, SiteCommand } from './commands.ts'
import type { SiteEvent } from './events.ts'
import type { SiteRefusal } from './refusals.ts'
import { initialSite, type SiteState } from './state.ts'

export const siteDecider: Decider<SiteState, SiteCommand, SiteEvent, SiteRefusal> = {
  initialState: initialSite,
  decide: (command, state) => {
    if (state.isInitialized) return refuse('AlreadyInitialized')
    return [{ type: 'SiteInitialized', v: 1, data: siteOf(command) }]
  },
  evolve: () => ({ isInitialized: true }),
}

const siteOf = ({ rootUserId, isSelfUse, isDemoSite }: InitializeSite) => ({
  rootUserId,
  isSelfUse,
  isDemoSite,
})
