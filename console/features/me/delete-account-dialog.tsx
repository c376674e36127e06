import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { clearUser, startLogout } from '#console/api/session.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'

export function DeleteAccountDialog(props: {
  isOpen: boolean
  username: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const form = useDraftForm({
    initial: () => ({ typed: '' }),
    onClose: props.onClose,
    save: async ({ typed }) => {
      if (typed !== props.username) throw new FieldError({ typed: t('me.typeName') })
      await retryWithIdentityProof(() => call('DELETE /api/user/self'))
      startLogout()
      showSuccess(t('me.deleted'), { staysOnNavigation: true })
      clearUser()
      client.clear()
      await navigate('/login', { replace: true })
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.deleteAccount')}
      lead={t('me.deleteWarning')}
      submitText={t('me.deleteForGood')}
      tone="danger"
      form={form}
    >
      <TextField
        label={t('me.nameToType', { name: props.username })}
        isRequired
        autoComplete="off"
        {...form.field('typed')}
      />
    </FormDialog>
  )
}
