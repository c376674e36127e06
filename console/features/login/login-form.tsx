import { type FormEvent, type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { PasswordInput, TextInput } from '#console/ui/forms/inputs.tsx'
import { Refusal } from '#console/ui/forms/refusal.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { type OnNeeded, useLogin } from './use-login.ts'

/** The password form. A field's error appears below the field, a server error at the button. */
export function LoginForm(props: { onNeeded: OnNeeded }): ReactElement {
  const { t } = useTranslation()
  const { logIn, isBusy, refusal } = useLogin(props.onNeeded)
  const human = useHumanCheck('login')
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isMissing = username.trim() === '' || password === ''
  const fault = isChecked && isMissing ? t('auth.needBoth') : ''
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setChecked(true)
    if (!isMissing) return logIn({ username: username.trim(), password }, human.take)
    const empty = username.trim() === '' ? 'username' : 'password'
    event.currentTarget.querySelector<HTMLInputElement>(`input[name="${empty}"]`)?.focus()
  }
  return (
    <form className="tg-entry-form" onSubmit={submit} noValidate>
      <FormField label={t('auth.username')} error={username.trim() === '' ? fault : ''}>
        {(control) => (
          <TextInput
            {...control}
            name="username"
            autoComplete="username"
            autoFocus
            autoCapitalize="none"
            spellCheck={false}
            value={username}
            onChange={setUsername}
          />
        )}
      </FormField>
      <FormField label={t('auth.password')} error={username.trim() !== '' ? fault : ''}>
        {(control) => (
          <PasswordInput
            {...control}
            name="password"
            autoComplete="current-password"
            value={password}
            onChange={setPassword}
          />
        )}
      </FormField>
      {human.box}
      <Refusal text={refusal} />
      <Button type="submit" tone="primary" size="large" isFill isBusy={isBusy}>
        {t('shell.login')}
      </Button>
    </form>
  )
}
