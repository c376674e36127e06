import { type FormEvent, type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { request } from '#console/api/request.ts'
import { isRoot } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'

/** Tries the saved mail settings; what is wrong with them is told in words. */
export function TestMail(): ReactElement | null {
  const { t } = useTranslation()
  const user = useUser()
  const [to, setTo] = useState('')
  const { isBusy, submit } = useSubmit(async () => {
    await sendTestMail(to.trim())
    showSuccess(t('settings.testMail.sent'))
  })
  if (!isRoot(user)) return null
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void submit()
  }
  return (
    <form className="tg-test-mail" onSubmit={onSubmit} noValidate>
      <FormField label={t('settings.testMail.to')} hint={t('settings.testMail.hint')}>
        {(control) => (
          <div className="tg-with-button">
            <TextInput {...control} type="email" autoComplete="email" value={to} onChange={setTo} />
            <Button type="submit" isBusy={isBusy} isDisabled={to.trim() === ''}>
              {t('settings.testMail.send')}
            </Button>
          </div>
        )}
      </FormField>
    </form>
  )
}

/** A mail by the saved settings; the refusal says what is wrong with them. */
async function sendTestMail(to: string): Promise<void> {
  await request<unknown>({ method: 'POST', path: '/api/option/test_mail', body: { to } })
}
