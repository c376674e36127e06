import type { Setup } from '#write-api/contract/setup.ts'

export type UsageMode = 'external' | 'self' | 'demo'

export type SetupDraft = {
  username: string
  password: string
  confirmPassword: string
  mode: UsageMode
}

export type SetupFault = 'needUsername' | 'shortPassword' | 'mismatch'
export type SetupField = 'username' | 'password' | 'confirmPassword'

export const EMPTY_SETUP: SetupDraft = {
  username: '',
  password: '',
  confirmPassword: '',
  mode: 'external',
}

const PASSWORD_LENGTH_MIN = 8

/** What is wrong, by field; nothing once the root account exists: then only the mode counts. */
export function setupFaults(
  draft: SetupDraft,
  isRootReady: boolean,
): Partial<Record<SetupField, SetupFault>> {
  if (isRootReady) return {}
  return {
    ...(draft.username.trim() === '' ? { username: 'needUsername' } : {}),
    ...([...draft.password].length < PASSWORD_LENGTH_MIN ? { password: 'shortPassword' } : {}),
    ...(draft.password !== draft.confirmPassword ? { confirmPassword: 'mismatch' } : {}),
  }
}

/** `token`: from the address that the server printed, for a setup from another machine. */
export function setupBody(draft: SetupDraft, token: string | null): Setup {
  return {
    username: draft.username.trim(),
    password: draft.password,
    confirmPassword: draft.confirmPassword,
    SelfUseModeEnabled: draft.mode === 'self',
    DemoSiteEnabled: draft.mode === 'demo',
    ...(token === null ? {} : { setup_token: token }),
  }
}
