import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { PasswordField, TextField } from '#console/ui/forms/fields.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { SingleTaskForm } from '#console/ui/layout/single-task-page.tsx'
import type { Login, SecondFactorRequired } from '#write-api/contract/login.ts'
import { useCompleteLogin } from './use-complete-login.ts'

export type SecondFactor = SecondFactorRequired['second_factor'] & {
  readonly isCommonPassword?: boolean
}
export type OnSecondFactorNeeded = (needed: SecondFactor) => void

export function LoginForm(props: { onSecondFactorNeeded: OnSecondFactorNeeded }) {
  const { t } = useTranslation()
  const completeLogin = useCompleteLogin()
  const humanCheck = useHumanCheck('login')
  const form = useDraftForm<Login>({
    initial: () => ({ username: '', password: '' }),
    validate: ({ username, password }) => {
      if (username.trim() === '') return { username: t('auth.credentialsRequired') }
      return password === '' ? { password: t('auth.credentialsRequired') } : {}
    },
    save: async ({ username, password }) => {
      const turnstile = humanCheck.takeToken()
      if (turnstile === null) return
      const body = { username: username.trim(), password }
      const result = await call('POST /api/user/login', { query: { turnstile }, body })
      // Only the browser checks for common passwords, because the server stores nothing about the
      // strength of passwords.
      const { isCommonPassword } = await import('./common-passwords.ts')
      const passwordInfo = { isCommonPassword: isCommonPassword(password) }
      if ('second_factor' in result)
        props.onSecondFactorNeeded({ ...result.second_factor, ...passwordInfo })
      else await completeLogin(result, passwordInfo)
    },
    showsFormError: true,
  })
  return (
    <SingleTaskForm form={form} submitText={t('shell.login')}>
      <TextField
        label={t('auth.username')}
        name="username"
        autoComplete="username"
        autoFocus
        {...form.field('username')}
      />
      <PasswordField
        label={t('auth.password')}
        name="password"
        autoComplete="current-password"
        {...form.field('password')}
      />
      {humanCheck.box}
    </SingleTaskForm>
  )
}
