import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton, copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'

/** The page that the link in a reset mail opens. */
export function ConfirmResetPage() {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [email, token] = [params.get('email') ?? '', params.get('token') ?? '']
  const isLink = email !== '' && token !== ''
  const [isDone, setDone] = useState(false)
  return (
    <SingleTaskPage
      title={t('auth.confirmTitle')}
      heading={isDone ? t('auth.confirmedTitle') : t('auth.confirmTitle')}
      lead={isDone ? t('auth.confirmedLead') : t('auth.confirmLead')}
    >
      {isLink ? (
        <ConfirmForm email={email} token={token} onDone={() => setDone(true)} />
      ) : (
        <BadLink text={t('auth.resetLinkInvalid')} />
      )}
      <p className="tg-entry-links">
        <Link to="/login">{t('auth.backToLogin')}</Link>
      </p>
    </SingleTaskPage>
  )
}

type Confirm = { email: string; token: string; onDone: () => void }

function ConfirmForm({ email, token, onDone }: Confirm) {
  const { t } = useTranslation()
  const [password, setPassword] = useState('')
  /** True if the server reports that the link was already used or has expired. */
  const [isSpent, setSpent] = useState(false)
  const isDone = password !== ''
  const form = useDraftForm({
    initial: () => ({ email }),
    save: async () => {
      if (isDone) return
      const newPassword = await reset({ email, token }, () => setSpent(true))
      setPassword(newPassword)
      onDone()
      if (await copyText(newPassword)) showSuccess(t('auth.passwordCopied'))
    },
    showsFormError: true,
  })
  return (
    <form className="tg-entry-form" {...formProps(form)}>
      <TextField label={t('auth.email')} name="email" readOnly {...form.field('email')} />
      {isDone && <NewPassword password={password} />}
      {form.formError !== '' && <BadLink text={form.formError} />}
      <Button
        type="submit"
        tone="primary"
        size="large"
        isFill
        isBusy={form.isBusy}
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

async function reset(body: Omit<Confirm, 'onDone'>, onSpent: () => void): Promise<string> {
  try {
    return await call('POST /api/user/reset', { body })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ResetLinkInvalid') onSpent()
    throw error
  }
}

function BadLink({ text }: { text: string }) {
  const { t } = useTranslation()
  return (
    <Alert tone="bad">
      <span>
        {text} <Link to="/reset">{t('auth.requestNewLink')}</Link>
      </span>
    </Alert>
  )
}

function NewPassword({ password }: { password: string }) {
  const { t } = useTranslation()
  return (
    <TextField
      label={t('ui.newPassword')}
      hint={t('auth.newPasswordHint')}
      value={password}
      readOnly
      isMono
      trailing={<CopyButton text={password} label={t('auth.copyPassword')} />}
      onChange={() => {}}
    />
  )
}
