import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { AccountFields } from '#console/ui/account-fields.tsx'
import { Button } from '#console/ui/button.tsx'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { MailCodeFields } from '#console/ui/mail-code.tsx'
import { Refusal } from '#console/ui/refusal.tsx'
import { useRegisterForm } from './use-register-form.ts'

export function RegisterForm(): ReactElement {
  const { t } = useTranslation()
  const human = useHumanCheck('register')
  const register = useRegisterForm(human.take)
  const { draft, change } = register
  return (
    <form ref={register.form} className="tg-entry-form" onSubmit={register.onSubmit} noValidate>
      <AccountFields
        draft={draft}
        words="auth"
        faults={register.faults}
        refused={register.refused}
        onChange={change}
      />
      {register.needsMail && (
        <MailCodeFields
          draft={draft}
          faults={register.mailFaults}
          purpose="register"
          onChange={change}
          takeToken={human.take}
          onNoAddress={register.onNoAddress}
        />
      )}
      {human.box}
      <Refusal text={register.refusal} />
      <Button type="submit" tone="primary" size="large" isFill isBusy={register.isBusy}>
        {t('auth.register')}
      </Button>
    </form>
  )
}
