import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemptions.ts'
import { confirm } from '#console/ui/confirm.tsx'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'

/** Deletes all codes of a name: how many there are is said before it is done. */
export function DeleteByName(props: { isOpen: boolean; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [fault, setFault] = useState('')
  const close = () => {
    setName('')
    setFault('')
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    const wanted = name.trim()
    if (wanted === '') return setFault(t('coupons.fault.nameMissing'))
    const count = await call('GET /api/redemption/count-by-name', { query: { name: wanted } })
    if (count === 0) return setFault(t('coupons.noneOfName'))
    const title = t('coupons.deleteNamedTitle', { name: wanted })
    const body = t('coupons.deleteNamedBody', { count })
    const words = { title, body, confirmText: t('coupons.delete') }
    if (!(await confirm({ ...words, tone: 'danger' }))) return
    showSuccess(
      t('coupons.deleted', {
        count: await call('DELETE /api/redemption/delete-by-name', { query: { name: wanted } }),
      }),
    )
    close()
    await client.invalidateQueries({ queryKey: redemptionsKey })
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('coupons.deleteByName')}
      lead={t('coupons.deleteByNameLead')}
      submitText={t('coupons.countFirst')}
      tone="danger"
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      <FormField label={t('coupons.name')} error={fault} isRequired>
        {(control) => (
          <TextInput
            {...control}
            autoComplete="off"
            value={name}
            onChange={(text) => {
              setName(text)
              setFault('')
            }}
          />
        )}
      </FormField>
    </FormDialog>
  )
}
