import { type FormEvent, type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { atField, MAIL_CODES } from '#console/ui/forms/at-field.ts'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { focusFirstFault } from '#console/ui/forms/use-submit.ts'
import { useHumanCheck } from '#console/ui/human-check/use-human-check.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import { useCountdown } from '#console/ui/state/use-countdown.ts'

const AGAIN_SECONDS = 30

type Said =
  | { readonly kind: 'sent' }
  /** `email` is the address that the server has rejected; undefined for any other error. */
  | { readonly kind: 'refused'; readonly words: string; readonly email?: string }

/** Requests a reset mail. The button is disabled for 30 s unless the server rejects the address. */
export function RequestResetPage(): ReactElement {
  const { t } = useTranslation()
  const status = useStatus()
  usePageTitle(t('auth.resetTitle'))
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('auth.resetTitle')}</h1>
        <p>{t('auth.resetLead')}</p>
      </header>
      {status?.password_login_enabled === false && (
        <p className="tg-alert">
          <Icon name="info" />
          <span>{t('auth.passwordClosed')}</span>
        </p>
      )}
      <RequestResetForm />
      <p className="tg-entry-links">
        <Link to="/login">{t('auth.backToLogin')}</Link>
      </p>
    </div>
  )
}

/**
 * Sends the request for a reset mail. `takeToken` returns the token of the human verification, or
 * null until the verification is complete.
 */
function useRequest(takeToken: () => string | null) {
  const { secondsLeft, start } = useCountdown()
  const [isBusy, setBusy] = useState(false)
  const [said, setSaid] = useState<Said | null>(null)
  const send = async (email: string) => {
    if (secondsLeft > 0 || isBusy) return
    const token = takeToken()
    if (token === null) return
    setBusy(true)
    setSaid(null)
    start(AGAIN_SECONDS)
    const tell = (words: string) => {
      setSaid({ kind: 'refused', words, email })
      start(0)
    }
    try {
      await atField(MAIL_CODES, tell, async () => {
        await call('GET /api/reset_password', { query: { email, turnstile: token } })
        setSaid({ kind: 'sent' })
      })
    } catch (error) {
      setSaid({ kind: 'refused', words: error instanceof Error ? error.message : String(error) })
    } finally {
      setBusy(false)
    }
  }
  return { send, secondsLeft, isBusy, said }
}

function RequestResetForm(): ReactElement {
  const { t } = useTranslation()
  const human = useHumanCheck('reset')
  const { send, secondsLeft, isBusy, said } = useRequest(human.take)
  const [email, setEmail] = useState('')
  const [isChecked, setChecked] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const refused = said?.kind === 'refused' && said.email !== undefined ? said : null
  const faultOf = () => {
    if (isChecked && email.trim() === '') return t('auth.needEmail')
    return refused?.email === email.trim() ? refused.words : ''
  }
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setChecked(true)
    if (email.trim() === '') return focusFirstFault(form)
    void send(email.trim()).then(() => focusFirstFault(form))
  }
  return (
    <form ref={form} className="tg-entry-form" onSubmit={onSubmit} noValidate>
      <FormField label={t('auth.email')} error={faultOf()}>
        {(control) => (
          <TextInput
            {...control}
            name="email"
            type="email"
            autoComplete="email"
            autoFocus
            autoCapitalize="none"
            spellCheck={false}
            value={email}
            onChange={setEmail}
          />
        )}
      </FormField>
      {human.box}
      {said !== null && refused === null && <SaidLine said={said} />}
      <Button
        type="submit"
        tone="primary"
        size="large"
        isFill
        isBusy={isBusy}
        isDisabled={secondsLeft > 0}
      >
        {secondsLeft > 0 ? t('auth.resetAgain', { seconds: secondsLeft }) : t('auth.resetSend')}
      </Button>
    </form>
  )
}

function SaidLine({ said }: { said: Said }): ReactElement {
  const { t } = useTranslation()
  if (said.kind === 'sent') {
    return (
      <output className="tg-alert tg-alert-good">
        <Icon name="check" />
        {t('auth.resetSent')}
      </output>
    )
  }
  return (
    <p className="tg-alert tg-alert-bad" role="alert">
      <Icon name="alert" />
      {said.words}
    </p>
  )
}
