import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
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

/** A new password ends every session but this one. */
export function PasswordDialog(props: { isOpen: boolean; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const [fault, setFault] = useState<Fault | null>(null)
  const faultOf = ({ next, again }: Draft): Fault | null => {
    if ([...next].length < CHARACTERS_MIN) return { field: 'next', text: t('me.passwordTooShort') }
    return next === again ? null : { field: 'again', text: t('me.passwordsDiffer') }
  }
  const close = () => {
    setDraft(EMPTY)
    setFault(null)
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    const found = faultOf(draft)
    setFault(found)
    if (found !== null) return
    await updateSelf({ original_password: draft.current, password: draft.next })
    showSuccess(t('me.passwordChanged'))
    close()
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.changePassword')}
      lead={t('me.passwordLead')}
      submitText={t('me.changePassword')}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      {FIELDS.map(({ field, label, autoComplete }) => (
        <FormField
          key={field}
          label={t(label)}
          hint={field === 'current' ? t('me.currentHint') : undefined}
          error={fault?.field === field ? fault.text : ''}
        >
          {(control) => (
            <PasswordInput
              {...control}
              autoComplete={autoComplete}
              value={draft[field]}
              onChange={(value) => setDraft((now) => ({ ...now, [field]: value }))}
            />
          )}
        </FormField>
      ))}
    </FormDialog>
  )
}
