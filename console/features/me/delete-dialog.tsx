import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { clearUser, startLeaving } from '#console/api/session.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { proven } from './proven.tsx'

/** The own account's end, once its name has been typed. */
export function DeleteDialog(props: {
  isOpen: boolean
  username: string
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState('')
  const close = () => {
    setTyped('')
    setFault('')
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    if (typed !== props.username) return setFault(t('me.typeName'))
    await proven(() => call('DELETE /api/user/self'))
    startLeaving()
    showSuccess(t('me.deleted'), { goesAlong: true })
    clearUser()
    client.clear()
    await navigate('/login', { replace: true })
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.deleteAccount')}
      lead={t('me.deleteWarning')}
      submitText={t('me.deleteForGood')}
      tone="danger"
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      <FormField label={t('me.nameToType', { name: props.username })} error={fault} isRequired>
        {(control) => (
          <TextInput
            {...control}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={typed}
            onChange={(value) => {
              setTyped(value)
              setFault('')
            }}
          />
        )}
      </FormField>
    </FormDialog>
  )
}
