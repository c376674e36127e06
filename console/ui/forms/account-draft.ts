export type AccountDraft = { username: string; password: string; confirmPassword: string }

export type AccountErrorKey =
  | 'usernameRequired'
  | 'usernameTooLong'
  | 'passwordTooShort'
  | 'passwordTooLong'
  | 'passwordsDiffer'

export const EMPTY_ACCOUNT: AccountDraft = { username: '', password: '', confirmPassword: '' }

export const USERNAME_LENGTH_MAX = 12
export const PASSWORD_LENGTH_MIN = 8
/** The maximum length of a password in Unicode code points. The server counts code points, too. */
export const PASSWORD_LENGTH_MAX = 128

/**
 * Returns an error for each invalid field of a new account, in the order of the fields in the form.
 */
export function validateAccount(
  draft: AccountDraft,
): Partial<Record<keyof AccountDraft, AccountErrorKey>> {
  const username = lengthOf(draft.username.trim())
  const password = lengthOf(draft.password)
  return {
    ...(username === 0 ? { username: 'usernameRequired' } : {}),
    ...(username > USERNAME_LENGTH_MAX ? { username: 'usernameTooLong' } : {}),
    ...(password < PASSWORD_LENGTH_MIN ? { password: 'passwordTooShort' } : {}),
    ...(password > PASSWORD_LENGTH_MAX ? { password: 'passwordTooLong' } : {}),
    ...(draft.password !== draft.confirmPassword ? { confirmPassword: 'passwordsDiffer' } : {}),
  }
}

const lengthOf = (text: string): number => [...text].length
