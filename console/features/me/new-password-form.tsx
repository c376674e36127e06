import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { storedUser, storeUser } from '#console/api/session.ts'
import { PasswordField } from '#console/ui/forms/fields.tsx'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '#console/ui/forms/new-account-fields.tsx'
import { PasskeyProofButton } from '#console/ui/forms/passkey-proof-button.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  errorsByCode,
  FieldError,
  type FieldErrors,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { UpdateSelf } from '#write-api/contract/users.ts'

/**
 * The values of the form. `proof` is a proof of identity without a field in the form, such as a
 * passkey.
 */
type PasswordDraft = {
  current: string
  next: string
  again: string
  proof?: Omit<UpdateSelf, 'password'>
}

const FIELD_CODES = {
  current: ['WrongOriginalPassword', ...IDENTITY_PROOF_ERRORS],
  next: ['PasswordTooShort', 'PasswordTooLong', 'PasswordUnchanged'],
}

/**
 * Keeps the values of the form for a new password, and saves them. Setting a password ends all
 * other sessions of the user. The user confirms the change with the current password. If the server
 * responds with `ProofNeeded`, the user confirms the change with a code or a passkey instead.
 */
export function useNewPassword(hasPassword: boolean, onChanged: () => Promise<void> | void) {
  const { t } = useTranslation()
  const [isByCode, setByCode] = useState(false)
  const errorsIn = useErrors(hasPassword)
  const form = useDraftForm<PasswordDraft>({
    initial: () => ({ current: '', next: '', again: '' }),
    save: async (draft) => {
      const errors = errorsIn(draft)
      if (Object.keys(errors).length > 0) throw new FieldError(errors)
      const { current, next, proof } = draft
      const shown = isByCode ? { code: current.trim() } : { original_password: current }
      try {
        await retryWithIdentityProof(() => updateSelf({ ...(proof ?? shown), password: next }))
      } catch (error) {
        if (error instanceof ApiError && error.code === 'ProofNeeded') setByCode(true)
        throw error
      }
      showSuccess(t('me.passwordChanged'))
      await onChanged()
      reset()
      clearPasswordChangeFlag()
    },
    errorsOf: errorsByCode<PasswordDraft>(FIELD_CODES),
  })
  const reset = () => {
    form.reset()
    setByCode(false)
  }
  return { ...form, reset, isByCode, asksFirst: hasPassword || isByCode }
}

function useErrors(hasPassword: boolean): (draft: PasswordDraft) => FieldErrors<PasswordDraft> {
  const { t } = useTranslation()
  return ({ current, next, again }) => ({
    ...(hasPassword && current === '' && { current: t('me.currentRequired') }),
    ...([...next].length < PASSWORD_LENGTH_MIN && { next: t('auth.passwordTooShort') }),
    ...([...next].length > PASSWORD_LENGTH_MAX && { next: t('auth.passwordTooLong') }),
    ...(again !== next && { again: t('ui.passwordsDiffer') }),
    ...(again === '' && next === '' && { again: t('me.repeatPasswordRequired') }),
  })
}

function clearPasswordChangeFlag(): void {
  const user = storedUser()
  if (user?.must_change_password !== true) return
  const { must_change_password: _, ...rest } = user
  storeUser(rest)
}

const updateSelf = (body: UpdateSelf) =>
  call('PUT /api/user/self', { body, renewsSession: Boolean(body.password) })

const FIELDS = [
  { field: 'current', label: 'me.currentPassword', autoComplete: 'current-password' },
  { field: 'next', label: 'ui.newPassword', autoComplete: 'new-password' },
  { field: 'again', label: 'me.newPasswordAgain', autoComplete: 'new-password' },
] as const

/**
 * The fields for a new password. The user confirms the change with the current password, a code or
 * a passkey.
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
