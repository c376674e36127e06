import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemption-queries.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { confirmDelete } from '#console/ui/lists/list-actions.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'

export function DeleteByName(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useDraftForm({
    onClose: props.onClose,
    initial: () => ({ name: '' }),
    save: async (draft) => {
      const name = draft.name.trim()
      if (name === '') throw new FieldError({ name: t('redemptions.error.nameMissing') })
      const count = await call('GET /api/redemption/count-by-name', { query: { name } })
      if (count === 0) throw new FieldError({ name: t('redemptions.noneOfName') })
      const title = t('redemptions.deleteNamedTitle', { name })
      const body = t('redemptions.deleteNamedBody', { count })
      if (!(await confirmDelete(title, body))) return
      const deleted = await call('DELETE /api/redemption/delete-by-name', { query: { name } })
      showSuccess(t('redemptions.deleted', { count: deleted }))
      form.close()
      await client.invalidateQueries({ queryKey: redemptionsKey })
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('redemptions.deleteByName')}
      lead={t('redemptions.deleteByNameLead')}
      submitText={t('redemptions.countFirst')}
      tone="danger"
      form={form}
    >
      <TextField label={t('shared.name')} isRequired autoComplete="off" {...form.field('name')} />
    </FormDialog>
  )
}
