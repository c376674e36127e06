import { useTranslation } from 'react-i18next'
import { PasswordField } from '#console/ui/forms/fields.tsx'
import { PasskeyProofButton } from '#console/ui/forms/passkey-proof-button.tsx'
import type { useNewPassword } from './use-new-password.ts'

const FIELDS = [
  { field: 'current', label: 'me.currentPassword', autoComplete: 'current-password' },
  { field: 'next', label: 'ui.newPassword', autoComplete: 'new-password' },
  { field: 'again', label: 'me.newPasswordAgain', autoComplete: 'new-password' },
] as const

/**
 * The fields for a new password. The user confirms the change with the current password or with a
 * code.
 */
export function PasswordFields(props: {
  form: ReturnType<typeof useNewPassword>
  currentLabel?: string
  isFocused?: boolean
}) {
  const { t } = useTranslation()
  const { form } = props
  const { isByCode, asksFirst } = form
  const labelOf = ({ field, label }: (typeof FIELDS)[number]) => {
    if (field !== 'current') return t(label)
    return isByCode ? t('credentials.codeOrRecovery') : (props.currentLabel ?? t(label))
  }
  return (
    <>
      {FIELDS.filter(({ field }) => asksFirst || field !== 'current').map((one) => (
        <PasswordField
          key={one.field}
          label={labelOf(one)}
          hint={one.field === 'next' ? t('auth.passwordHint') : undefined}
          autoFocus={props.isFocused === true && one.field === 'current'}
          autoComplete={isByCode && one.field === 'current' ? 'one-time-code' : one.autoComplete}
          {...form.field(one.field)}
        />
      ))}
      {isByCode && <PasskeyProofButton perform={(proof) => form.submitWith({ proof })} />}
    </>
  )
}
