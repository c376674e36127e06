import {
  type AccountDraft,
  type AccountFault,
  accountFaults,
  EMPTY_ACCOUNT,
} from '#console/ui/account-draft.ts'
import type { Setup } from '#write-api/contract/setup.ts'

export type UsageMode = 'external' | 'self' | 'demo'

export type SetupDraft = AccountDraft & { mode: UsageMode }

export const EMPTY_SETUP: SetupDraft = { ...EMPTY_ACCOUNT, mode: 'external' }

/** What is wrong, by field; nothing once the root account exists: then only the mode counts. */
export const setupFaults = (
  draft: SetupDraft,
  isRootReady: boolean,
): Partial<Record<keyof AccountDraft, AccountFault>> => (isRootReady ? {} : accountFaults(draft))

/** `token`: from the address that the server printed, for a setup from another machine. */
export function setupBody(draft: SetupDraft, token: string | null): Setup {
  return {
    username: draft.username.trim(),
    password: draft.password,
    confirmPassword: draft.again,
    SelfUseModeEnabled: draft.mode === 'self',
    DemoSiteEnabled: draft.mode === 'demo',
    ...(token === null ? {} : { setup_token: token }),
  }
}
