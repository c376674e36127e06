export type AccountDraft = { username: string; password: string; again: string }

export type AccountFault = 'needName' | 'longName' | 'shortPassword' | 'longPassword' | 'mismatch'

export const EMPTY_ACCOUNT: AccountDraft = { username: '', password: '', again: '' }

export const USERNAME_LENGTH_MAX = 12
export const PASSWORD_LENGTH_MIN = 8
/** The maximum length in Unicode code points, which is how the server counts. */
export const PASSWORD_LENGTH_MAX = 128

/** Checks a new account. Returns the errors by field in the order of the form. */
export function accountFaults(
  draft: AccountDraft,
): Partial<Record<keyof AccountDraft, AccountFault>> {
  const username = lengthOf(draft.username.trim())
  const password = lengthOf(draft.password)
  return {
    ...(username === 0 ? { username: 'needName' } : {}),
    ...(username > USERNAME_LENGTH_MAX ? { username: 'longName' } : {}),
    ...(password < PASSWORD_LENGTH_MIN ? { password: 'shortPassword' } : {}),
    ...(password > PASSWORD_LENGTH_MAX ? { password: 'longPassword' } : {}),
    ...(draft.password !== draft.again ? { again: 'mismatch' } : {}),
  }
}

const lengthOf = (text: string): number => [...text].length
