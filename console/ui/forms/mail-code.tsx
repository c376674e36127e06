import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { Button } from '../elements/button.tsx'
import { showSuccess } from '../messages/toast.ts'
import { useCountdown } from '../state/use-countdown.ts'
import { atField, MAIL_CODES } from './at-field.ts'
import { TextField } from './fields.tsx'
import { FormField } from './form-field.tsx'
import { TextInput } from './inputs.tsx'
import type { FieldErrors } from './use-draft-form.ts'
import { useSubmit } from './use-submit.ts'

type CodePurpose = 'register' | 'bind' | 'notify'

/** Mails a verification code to an address, for a new account or for the current user. */
const sendCode = (email: string, purpose: CodePurpose, turnstile: string) =>
  call('GET /api/verification', { query: { email, purpose, turnstile } })

const RESEND_SECONDS = 30

type MailCodeDraft = { readonly email: string; readonly code: string }

/** The fields for a mail address and its code. Another code can be requested after 30 s. */
export function MailCodeFields(props: {
  draft: MailCodeDraft
  errors: FieldErrors<MailCodeDraft>
  purpose: CodePurpose
  onChange: (patch: Partial<MailCodeDraft>) => void
  /** Returns the token of the human verification, or null until it is complete. */
  takeToken: () => string | null
  /** Called if the user requests a code before entering an address. */
  onNoAddress: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { draft, errors, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  const [refused, setRefused] = useState({ email: '', words: '' })
  const fault = refused.email === draft.email && refused.words
  return (
    <>
      <TextField
        label={t('auth.email')}
        error={fault || errors.email}
        ref={input}
        name="email"
        type="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        value={draft.email}
        onChange={(email) => onChange({ email })}
      />
      <MailCodeField
        email={draft.email}
        code={draft.code}
        error={errors.code}
        purpose={props.purpose}
        onCode={(code) => onChange({ code })}
        takeToken={props.takeToken}
        onNoAddress={props.onNoAddress}
        onRefused={(words) => {
          setRefused({ email: draft.email, words })
          input.current?.focus()
        }}
      />
    </>
  )
}

/** The field for a mailed code, if another field has the address. */
export function MailCodeField(props: {
  email: string
  code: string
  error: string | undefined
  purpose: CodePurpose
  onCode: (code: string) => void
  takeToken: () => string | null
  onNoAddress: () => void
  /** Receives the error message if the server refuses the address. */
  onRefused: (words: string) => void
}): ReactElement {
  const { t } = useTranslation()
  const { secondsLeft, start } = useCountdown()
  const { isBusy, submit } = useSubmit(async () => {
    if (props.email.trim() === '') return props.onNoAddress()
    const token = props.takeToken()
    if (token === null) return
    await atField(MAIL_CODES, props.onRefused, async () => {
      await sendCode(props.email.trim(), props.purpose, token)
      start(RESEND_SECONDS)
      showSuccess(t('auth.codeSent'))
    })
  })
  return (
    <FormField label={t('auth.code')} error={props.error}>
      {(control) => (
        <div className="tg-with-button">
          <TextInput
            {...control}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={12}
            isMono
            value={props.code}
            onChange={props.onCode}
          />
          <Button isBusy={isBusy} isDisabled={secondsLeft > 0} onClick={() => void submit()}>
            {secondsLeft > 0 ? t('auth.codeAgain', { seconds: secondsLeft }) : t('auth.sendCode')}
          </Button>
        </div>
      )}
    </FormField>
  )
}
