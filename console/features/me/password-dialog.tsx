import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/me/self.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { PasswordFields } from './password-fields.tsx'
import { useNewPassword } from './use-new-password.ts'

export function PasswordDialog(props: {
  isOpen: boolean
  /** False: a first one is set, and there is no current one to know. */
  hasPassword: boolean
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { hasPassword } = props
  const client = useQueryClient()
  const title = hasPassword ? t('me.changePassword') : t('me.setPassword')
  const form = useNewPassword(hasPassword, async () => {
    if (!hasPassword) await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    props.onClose()
  })
  const close = () => {
    form.reset()
    props.onClose()
  }
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={title}
      lead={hasPassword ? t('me.passwordLead') : t('me.firstPasswordLead')}
      submitText={title}
      isBusy={form.isBusy}
      onSubmit={() => void form.submit()}
      onClose={close}
    >
      <PasswordFields form={form} />
    </FormDialog>
  )
}
