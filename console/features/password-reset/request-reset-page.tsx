import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { TextField } from '#console/ui/forms/fields.tsx'
import { MAIL_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { SingleTaskForm, SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { useCountdown } from '#console/ui/state/use-countdown.ts'

const RESEND_SECONDS = 30

/**
 * Requests a mail for a password reset. After a request, the button is disabled for 30 s. If the
 * server rejects the mail address, the button is enabled again at once.
 */
export function RequestResetPage() {
  const { t } = useTranslation()
  const status = useStatus()
  return (
    <SingleTaskPage title={t('auth.resetTitle')} lead={t('auth.resetLead')}>
      {status?.password_login_enabled === false && (
        <Alert>
          <span>{t('auth.passwordClosed')}</span>
        </Alert>
      )}
      <RequestResetForm />
      <p className="tg-entry-links">
        <Link to="/login">{t('auth.backToLogin')}</Link>
      </p>
    </SingleTaskPage>
  )
}

function RequestResetForm() {
  const { t } = useTranslation()
  const human = useHumanCheck('reset')
  const { secondsLeft, start } = useCountdown()
  const [isSent, setSent] = useState(false)
  const form = useDraftForm({
    initial: () => ({ email: '' }),
    validate: ({ email }) => (email.trim() === '' ? { email: t('auth.emailRequired') } : {}),
    save: async (draft) => {
      if (secondsLeft > 0) return
      const turnstile = human.takeToken()
      if (turnstile === null) return
      setSent(false)
      start(RESEND_SECONDS)
      const email = draft.email.trim()
      await call('GET /api/reset_password', { query: { email, turnstile } })
      setSent(true)
    },
    errorsOf: (error) => {
      const errors = errorsByCode<{ email: string }>({ email: MAIL_ERRORS })(error)
      if (errors !== null) start(0)
      return errors
    },
    showsFormError: true,
  })
  return (
    <SingleTaskForm
      form={form}
      submitText={
        secondsLeft > 0 ? t('auth.resetRetryIn', { seconds: secondsLeft }) : t('auth.resetSend')
      }
      isDisabled={secondsLeft > 0}
    >
      <TextField
        label={t('auth.email')}
        name="email"
        type="email"
        autoComplete="email"
        autoFocus
        {...form.field('email')}
      />
      {human.box}
      {isSent && <Alert tone="good">{t('auth.resetSent')}</Alert>}
    </SingleTaskForm>
  )
}
