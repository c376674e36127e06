import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { selfQuery } from '#console/api/me/self.ts'
import { updateSelf } from '#console/api/me/update-self.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput } from '#console/ui/inputs.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'

const CHARACTERS_MIN = 8
const EMPTY = { current: '', next: '', again: '' }
type Draft = typeof EMPTY
type Fault = { readonly field: keyof Draft; readonly text: string }

const FIELDS = [
  { field: 'current', label: 'me.currentPassword', autoComplete: 'current-password' },
  { field: 'next', label: 'me.newPassword', autoComplete: 'new-password' },
  { field: 'again', label: 'me.newPasswordAgain', autoComplete: 'new-password' },
] as const

/** A new password, or a first one, which ends every session but this one. */
export function PasswordDialog(props: {
  isOpen: boolean
  /** False: a first one is set, and there is no current one to know. */
  hasPassword: boolean
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { hasPassword } = props
  const client = useQueryClient()
  // With two-step login on, a code stands for the password that there is none of.
  const [isByCode, setByCode] = useState(false)
  const fields = FIELDS.filter(({ field }) => hasPassword || isByCode || field !== 'current')
  const title = hasPassword ? t('me.changePassword') : t('me.setPassword')
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const [fault, setFault] = useState<Fault | null>(null)
  const faultOf = ({ current, next, again }: Draft): Fault | null => {
    if (hasPassword && current === '') return { field: 'current', text: t('me.currentRequired') }
    if ([...next].length < CHARACTERS_MIN) return { field: 'next', text: t('me.passwordTooShort') }
    return next === again ? null : { field: 'again', text: t('me.passwordsDiffer') }
  }
  const close = () => {
    setDraft(EMPTY)
    setFault(null)
    setByCode(false)
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    const found = faultOf(draft)
    setFault(found)
    if (found !== null) return
    const proof = isByCode ? { code: draft.current.trim() } : { original_password: draft.current }
    try {
      await updateSelf({ ...proof, password: draft.next })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'ProofNeeded') setByCode(true)
      throw error
    }
    if (!hasPassword) await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    showSuccess(t('me.passwordChanged'))
    close()
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={title}
      lead={hasPassword ? t('me.passwordLead') : t('me.firstPasswordLead')}
      submitText={title}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      {fields.map(({ field, label, autoComplete }) => (
        <FormField
          key={field}
          label={field === 'current' && isByCode ? t('security.codeOrRecovery') : t(label)}
          error={fault?.field === field ? fault.text : ''}
        >
          {(control) => (
            <PasswordInput
              {...control}
              autoComplete={isByCode && field === 'current' ? 'one-time-code' : autoComplete}
              value={draft[field]}
              onChange={(value) => setDraft((now) => ({ ...now, [field]: value }))}
            />
          )}
        </FormField>
      ))}
    </FormDialog>
  )
}
