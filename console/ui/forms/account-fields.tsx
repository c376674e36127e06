import { useTranslation } from 'react-i18next'
import type { AccountDraft } from './account-draft.ts'
import { PasswordField, TextField } from './fields.tsx'
import type { FieldState } from './use-draft-form.ts'

export function AccountFields(props: {
  form: { field: (name: keyof AccountDraft) => FieldState<string> }
  /** The translation group that contains the hints of the fields. */
  words: 'auth' | 'setup'
  isWide?: boolean
}) {
  const { t } = useTranslation()
  const { form, words } = props
  const passwords = (['password', 'confirmPassword'] as const).map((name) => (
    <PasswordField
      key={name}
      label={t(name === 'password' ? 'auth.password' : `${words}.confirmPassword`)}
      hint={name === 'password' ? t(`${words}.passwordHint`) : undefined}
      name={name}
      autoComplete="new-password"
      {...form.field(name)}
    />
  ))
  return (
    <>
      <TextField
        label={t('auth.name')}
        hint={t(`${words}.nameHint`)}
        name="username"
        autoComplete="username"
        autoFocus
        autoCapitalize="none"
        spellCheck={false}
        {...form.field('username')}
      />
      {props.isWide === true ? <div className="tg-entry-pair">{passwords}</div> : passwords}
    </>
  )
}
