import { type FormEvent, type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { AccountFields } from '#console/ui/account-fields.tsx'
import { Button } from '#console/ui/button.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { MailCodeFields } from '#console/ui/mail-code.tsx'
import {
  EMPTY_REGISTER,
  type RegisterDraft,
  type RegisterField,
  registerBody,
  registerFaults,
} from './register-draft.ts'
import { useRegister } from './use-register.ts'

export function RegisterForm(): ReactElement {
  const { t } = useTranslation()
  const status = useStatus()
  const [params] = useSearchParams()
  const needsMail = status?.email_verification === true
  const human = useHumanCheck('register')
  const { submit, isBusy, refusal } = useRegister()
  const [draft, setDraft] = useState<RegisterDraft>(EMPTY_REGISTER)
  const [isChecked, setChecked] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const faults = registerFaults(draft, needsMail)
  const change = (patch: Partial<RegisterDraft>) => setDraft((now) => ({ ...now, ...patch }))
  const focus = (name: RegisterField) =>
    form.current?.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.focus()
  const shown = isChecked ? faults : {}
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    const first = Object.keys(faults)[0] as RegisterField | undefined
    if (first !== undefined) return focus(first)
    const affCode = status?.aff_enabled === false ? null : params.get('aff')
    void submit(registerBody(draft, needsMail, affCode), human.take)
  }
  return (
    <form ref={form} className="tg-entry-form" onSubmit={onSubmit} noValidate>
      <AccountFields draft={draft} words="auth" faults={shown} onChange={change} />
      {needsMail && (
        <MailCodeFields
          draft={draft}
          faults={{
            email: shown.email === undefined ? '' : t('auth.needEmail'),
            code: shown.code === undefined ? '' : t('auth.needCode'),
          }}
          purpose="register"
          onChange={change}
          takeToken={human.take}
          onNoAddress={() => {
            setChecked(true)
            focus('email')
          }}
        />
      )}
      {human.box}
      {refusal !== '' && (
        <p className="tg-alert tg-alert-bad" role="alert">
          <Icon name="alert" />
          {refusal}
        </p>
      )}
      <Button type="submit" tone="primary" size="large" isFill isBusy={isBusy}>
        {t('auth.register')}
      </Button>
    </form>
  )
}
