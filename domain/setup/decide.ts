import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { SiteEvent } from './events.ts'

type SiteState = { readonly isInitialized: boolean }

const initialSite = (): SiteState => ({ isInitialized: false })

export const siteDecider: Decider<SiteState, SiteCommand, SiteEvent, SiteError> = {
  initialState: initialSite,
  decide: (command, state) => {
    if (state.isInitialized) return codedError('AlreadyInitialized')
    return [{ type: 'SiteInitialized', v: 1, data: siteOf(command) }]
  },
  evolve: () => ({ isInitialized: true }),
}

const siteOf = ({ rootUserId, isSelfUse, isDemoSite }: InitializeSite) => ({
  rootUserId,
  isSelfUse,
  isDemoSite,
})

type InitializeSite = {
  readonly type: 'InitializeSite'
  readonly rootUserId: number
  readonly isSelfUse: boolean
  readonly isDemoSite: boolean
}

type SiteCommand = InitializeSite

export type SiteErrorCode = 'AlreadyInitialized'

type SiteError = CodedError<SiteErrorCode>
