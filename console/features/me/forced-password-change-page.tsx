import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { SingleTaskForm, SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { PasswordFields, useNewPassword } from './new-password-form.tsx'

export function ForcedPasswordChangePage(props: { onLeave: () => void }) {
  const { t } = useTranslation()
  const form = useNewPassword(true, () => undefined)
  return (
    <SingleTaskPage title={t('me.forcedPassword')} lead={t('me.forcedPasswordLead')}>
      <SingleTaskForm form={form} submitText={t('me.forcedPasswordSubmit')}>
        <PasswordFields form={form} currentLabel={t('me.resetPassword')} isFocused />
      </SingleTaskForm>
      <p className="tg-entry-links">
        <Button tone="quiet" size="small" icon="logOut" onClick={props.onLeave}>
          {t('shell.logout')}
        </Button>
      </p>
    </SingleTaskPage>
  )
}
