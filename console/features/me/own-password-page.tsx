import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { formProps } from '#console/ui/forms/use-draft-form.ts'
import { usePageTitle } from '#console/ui/layout/page.tsx'
import { PasswordFields } from './password-fields.tsx'
import { useNewPassword } from './use-new-password.ts'

/** Replaces every page until a user whose password was reset has chosen a password. */
export function OwnPasswordPage(props: { onLeave: () => void }): ReactElement {
  const { t } = useTranslation()
  const form = useNewPassword(true, () => undefined)
  usePageTitle(t('me.ownPassword'))
  return (
    <div className="tg-entry">
      <header className="tg-entry-head">
        <h1>{t('me.ownPassword')}</h1>
        <p>{t('me.ownPasswordLead')}</p>
      </header>
      <form className="tg-entry-form" {...formProps(form)}>
        <PasswordFields form={form} currentLabel={t('me.resetPassword')} isFocused />
        <Button type="submit" tone="primary" size="large" isFill isBusy={form.isBusy}>
          {t('me.ownPasswordSubmit')}
        </Button>
      </form>
      <p className="tg-entry-links">
        <Button tone="quiet" size="small" icon="logOut" onClick={props.onLeave}>
          {t('shell.logout')}
        </Button>
      </p>
    </div>
  )
}
