import { useTranslation } from 'react-i18next'
import { PasswordField, TextField } from './fields.tsx'
import type { FieldState } from './use-draft-form.ts'

export function AccountFields(props: {
  form: { field: (name: keyof AccountDraft) => FieldState<string> }
  /** The group of translations that contains the hints of the fields. */
  textGroup: 'auth' | 'setup'
  isWide?: boolean
}) {
  const { t } = useTranslation()
  const { form, textGroup } = props
  const passwords = (['password', 'confirmPassword'] as const).map((name) => (
    <PasswordField
      key={name}
      label={t(name === 'password' ? 'auth.password' : `${textGroup}.confirmPassword`)}
      hint={name === 'password' ? t(`${textGroup}.passwordHint`) : undefined}
      name={name}
      autoComplete="new-password"
      {...form.field(name)}
    />
  ))
  return (
    <>
      <TextField
        label={t('auth.name')}
        hint={t(`${textGroup}.nameHint`)}
        name="username"
        autoComplete="username"
        autoFocus
        {...form.field('username')}
      />
      {props.isWide === true ? <div className="tg-entry-pair">{passwords}</div> : passwords}
    </>
  )
}

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
