import { useTranslation } from 'react-i18next'
import type { AccountDraft } from './account-draft.ts'
import { PasswordField, TextField } from './fields.tsx'
import type { FieldState } from './use-draft-form.ts'

export function AccountFields(props: {
  form: { field: (name: keyof AccountDraft) => FieldState<string> }
  /** The group of translations with the hints of the fields. */
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
