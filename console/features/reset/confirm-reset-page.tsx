import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'

/** The page of the link in a reset mail. One click creates, shows and copies a new password. */
export function ConfirmResetPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [email, token] = [params.get('email') ?? '', params.get('token') ?? '']
  const isLink = email !== '' && token !== ''
  const [isDone, setDone] = useState(false)
  usePageTitle(t('auth.confirmTitle'))
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{isDone ? t('auth.confirmedTitle') : t('auth.confirmTitle')}</h1>
        <p>{isDone ? t('auth.confirmedLead') : t('auth.confirmLead')}</p>
      </header>
      {isLink ? (
        <ConfirmForm email={email} token={token} onDone={() => setDone(true)} />
      ) : (
        <BadLink words={t('auth.badLink')} />
      )}
      <p className="tg-entry-links">
        <Link to="/login">{t('auth.backToLogin')}</Link>
      </p>
    </div>
  )
}

type Confirm = { email: string; token: string; onDone: () => void }

function ConfirmForm({ email, token, onDone }: Confirm): ReactElement {
  const { t } = useTranslation()
  const { reset, isBusy, refusal, isSpent, password } = useReset({ email, token, onDone })
  const isDone = password !== ''
  return (
    <form
      className="tg-entry-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isDone) void reset()
      }}
    >
      <FormField label={t('auth.email')}>
        {(control) => (
          <TextInput {...control} name="email" value={email} readOnly onChange={() => {}} />
        )}
      </FormField>
      {isDone && <NewPassword password={password} />}
      {refusal !== '' && <BadLink words={refusal} />}
      <Button
        type="submit"
        tone="primary"
        size="large"
        isFill
        isBusy={isBusy}
        isDisabled={isDone || isSpent}
      >
        {isDone ? t('auth.confirmDone') : t('auth.confirmSubmit')}
      </Button>
      {isDone && (
        <Link className="tg-link-button" to="/login">
          {t('auth.confirmNext')}
        </Link>
      )}
    </form>
  )
}

function useReset({ email, token, onDone }: Confirm) {
  const { t } = useTranslation()
  const isUnderWay = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState('')
  /** True if the link was used or has expired, so that a retry would fail. */
  const [isSpent, setSpent] = useState(false)
  const [password, setPassword] = useState('')
  const reset = async () => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    setRefusal('')
    try {
      const made = await call('POST /api/user/reset', { body: { email, token } })
      setPassword(made)
      onDone()
      if (await copyText(made)) showSuccess(t('auth.passwordCopied'))
    } catch (error) {
      setSpent(error instanceof ApiError && error.code === 'ResetLinkInvalid')
      setRefusal(error instanceof Error ? error.message : String(error))
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
  return { reset, isBusy, refusal, isSpent, password }
}

function BadLink({ words }: { words: string }): ReactElement {
  const { t } = useTranslation()
  return (
    <p className="tg-alert tg-alert-bad" role="alert">
      <Icon name="alert" />
      <span>
        {words} <Link to="/reset">{t('auth.newLink')}</Link>
      </span>
    </p>
  )
}

function NewPassword({ password }: { password: string }): ReactElement {
  const { t } = useTranslation()
  return (
    <FormField label={t('ui.newPassword')} hint={t('auth.newPasswordHint')}>
      {(control) => (
        <div className="tg-with-button">
          <TextInput {...control} value={password} readOnly isMono onChange={() => {}} />
          <CopyButton text={password} label={t('auth.copyPassword')} />
        </div>
      )}
    </FormField>
  )
}
