import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router-dom'
import { resetPassword } from '#console/api/auth/reset-password.ts'
import { Button } from '#console/ui/button.tsx'
import { CopyButton } from '#console/ui/copy-button.tsx'
import { copyText } from '#console/ui/copy-text.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { usePageTitle } from '#console/ui/page.tsx'
import { showSuccess } from '#console/ui/toast.ts'

/** Where the link of a mail leads: one press, and the new password is shown and copied. */
export function ConfirmResetPage(): ReactElement {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [email, token] = [params.get('email') ?? '', params.get('token') ?? '']
  const isLink = email !== '' && token !== ''
  usePageTitle(t('auth.confirmTitle'))
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('auth.confirmTitle')}</h1>
        <p>{t('auth.confirmLead')}</p>
      </header>
      {isLink ? <ConfirmForm email={email} token={token} /> : <BadLink words={t('auth.badLink')} />}
      <p className="tg-entry-links">
        <Link to="/login">{t('auth.backToLogin')}</Link>
      </p>
    </div>
  )
}

function ConfirmForm({ email, token }: { email: string; token: string }): ReactElement {
  const { t } = useTranslation()
  const isUnderWay = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState('')
  const [password, setPassword] = useState('')
  const isDone = password !== ''
  const reset = async () => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    setRefusal('')
    try {
      const made = await resetPassword({ email, token })
      setPassword(made)
      if (await copyText(made)) showSuccess(t('auth.passwordCopied'))
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error))
    } finally {
      isUnderWay.current = false
      setBusy(false)
    }
  }
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
      <Button type="submit" tone="primary" size="large" isFill isBusy={isBusy} isDisabled={isDone}>
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
    <FormField label={t('auth.newPassword')} hint={t('auth.newPasswordHint')}>
      {(control) => (
        <div className="tg-with-button">
          <TextInput {...control} value={password} readOnly isMono onChange={() => {}} />
          <CopyButton text={password} label={t('auth.copyPassword')} />
        </div>
      )}
    </FormField>
  )
}
