import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { EntryForm, EntryPage } from '#console/ui/layout/entry-page.tsx'
import { PasswordFields } from './password-fields.tsx'
import { useNewPassword } from './use-new-password.ts'

export function ForcedPasswordChangePage(props: { onLeave: () => void }) {
  const { t } = useTranslation()
  const form = useNewPassword(true, () => undefined)
  return (
    <EntryPage title={t('me.forcedPassword')} lead={t('me.forcedPasswordLead')}>
      <EntryForm form={form} submitText={t('me.forcedPasswordSubmit')}>
        <PasswordFields form={form} currentLabel={t('me.resetPassword')} isFocused />
      </EntryForm>
      <p className="tg-entry-links">
        <Button tone="quiet" size="small" icon="logOut" onClick={props.onLeave}>
          {t('shell.logout')}
        </Button>
      </p>
    </EntryPage>
  )
}
