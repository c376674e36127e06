import type { Setup } from '#write-api/contract/setup.ts'

export type UsageMode = 'external' | 'self' | 'demo'

export type SetupDraft = {
  username: string
  password: string
  confirmPassword: string
  mode: UsageMode
}

export type SetupFault =
  | 'needUsername'
  | 'longUsername'
  | 'shortPassword'
  | 'longPassword'
  | 'mismatch'
export type SetupField = 'username' | 'password' | 'confirmPassword'

export const EMPTY_SETUP: SetupDraft = {
  username: '',
  password: '',
  confirmPassword: '',
  mode: 'external',
}

const USERNAME_LENGTH_MAX = 12
const PASSWORD_LENGTH_MIN = 8
const PASSWORD_LENGTH_MAX = 20

/** What is wrong, by field; nothing once the root account exists: then only the mode counts. */
export function setupFaults(
  draft: SetupDraft,
  isRootReady: boolean,
): Partial<Record<SetupField, SetupFault>> {
  if (isRootReady) return {}
  const username = lengthOf(draft.username.trim())
  const password = lengthOf(draft.password)
  return {
    ...(username === 0 ? { username: 'needUsername' } : {}),
    ...(username > USERNAME_LENGTH_MAX ? { username: 'longUsername' } : {}),
    ...(password < PASSWORD_LENGTH_MIN ? { password: 'shortPassword' } : {}),
    ...(password > PASSWORD_LENGTH_MAX ? { password: 'longPassword' } : {}),
    ...(draft.password !== draft.confirmPassword ? { confirmPassword: 'mismatch' } : {}),
  }
}

const lengthOf = (text: string): number => [...text].length

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
