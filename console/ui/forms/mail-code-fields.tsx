import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { Button } from '../elements/button.tsx'
import { showSuccess } from '../messages/toast.ts'
import { useCountdown } from '../state/use-countdown.ts'
import { TextField } from './fields.tsx'
import { MAIL_ERRORS, showErrorAtField } from './server-field-errors.ts'
import type { DraftForm, FieldState } from './use-draft-form.ts'
import { useSubmit } from './use-submit.ts'

type CodePurpose = 'register' | 'bind' | 'notify'

const sendCode = (email: string, purpose: CodePurpose, turnstile: string) =>
  call('GET /api/verification', { query: { email, purpose, turnstile } })

const RESEND_SECONDS = 30

type MailCodeDraft = { readonly email: string; readonly code: string }

type MailCodeForm = Pick<DraftForm<MailCodeDraft>, 'draft' | 'field' | 'setFieldError'>

/**
 * Two fields: for a mail address, and for a code that is sent to it. After 30 s, another code can
 * be requested.
 */
export function MailCodeFields(props: {
  form: MailCodeForm
  purpose: CodePurpose
  /** Returns the token of the CAPTCHA, or null if the user has not completed the CAPTCHA yet. */
  takeToken: () => string | null
}) {
  const { t } = useTranslation()
  const { form, purpose, takeToken } = props
  const input = useRef<HTMLInputElement>(null)
  const showError = (text: string) => {
    form.setFieldError('email', text)
    input.current?.focus()
  }
  return (
    <>
      <TextField
        label={t('auth.email')}
        ref={input}
        name="email"
        type="email"
        autoComplete="email"
        {...form.field('email')}
      />
      <MailCodeField
        email={form.draft.email}
        purpose={purpose}
        takeToken={takeToken}
        onNoAddress={() => showError(t('auth.emailRequired'))}
        onError={showError}
        {...form.field('code')}
      />
    </>
  )
}

/** The field for a code that is sent by mail. The field for the mail address is separate. */
export function MailCodeField(
  props: FieldState<string> & {
    email: string
    purpose: CodePurpose
    takeToken: () => string | null
    onNoAddress: () => void
    /** Called with an error message if the server rejects the mail address. */
    onError: (text: string) => void
  },
) {
  const { t } = useTranslation()
  const { value, error, onChange } = props
  const { secondsLeft, start } = useCountdown()
  const { isBusy, submit } = useSubmit(async () => {
    if (props.email.trim() === '') return props.onNoAddress()
    const token = props.takeToken()
    if (token === null) return
    await showErrorAtField(MAIL_ERRORS, props.onError, async () => {
      await sendCode(props.email.trim(), props.purpose, token)
      start(RESEND_SECONDS)
      showSuccess(t('auth.codeSent'))
    })
  })
  return (
    <TextField
      label={t('auth.code')}
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={12}
      isMono
      trailing={
        <Button isBusy={isBusy} isDisabled={secondsLeft > 0} onClick={() => void submit()}>
          {secondsLeft > 0 ? t('auth.resendCode', { seconds: secondsLeft }) : t('auth.sendCode')}
        </Button>
      }
      value={value}
      error={error}
      onChange={onChange}
    />
  )
}
