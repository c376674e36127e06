import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { request } from '#console/api/request.ts'
import { storedUser, storeUser } from '#console/api/session.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '#console/ui/account-draft.ts'
import { PROOF_CODES } from '#console/ui/at-field.ts'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { UpdateSelf } from '#write-api/contract/users.ts'
import { proven } from './proven.tsx'

const EMPTY = { current: '', next: '', again: '' }
export type PasswordDraft = typeof EMPTY
type Faults = Readonly<Partial<PasswordDraft>>

/** The fields at which the server's errors appear. */
const FIELD_OF: Readonly<Record<string, keyof PasswordDraft>> = {
  WrongOriginalPassword: 'current',
  ...Object.fromEntries(PROOF_CODES.map((code) => [code, 'current'] as const)),
  PasswordTooShort: 'next',
  PasswordTooLong: 'next',
  PasswordUnchanged: 'next',
}

/**
 * Sets a new or a first password, which ends all other sessions. `hasPassword` is false when there
 * is no current password; with two-step login, a code replaces it.
 */
export function useNewPassword(hasPassword: boolean, onChanged: () => Promise<void> | void) {
  const { t } = useTranslation()
  const [isByCode, setByCode] = useState(false)
  const [draft, setDraft] = useState<PasswordDraft>(EMPTY)
  const [faults, setFaults] = useState<Faults>({})
  const faultsOf = useFaults(hasPassword)
  const reset = () => {
    setDraft(EMPTY)
    setFaults({})
    setByCode(false)
  }
  const { isBusy, submit } = useSubmit(() =>
    set(isByCode ? { code: draft.current.trim() } : { original_password: draft.current }),
  )
  const set = async (proof: Omit<UpdateSelf, 'password'>) => {
    const found = faultsOf(draft)
    setFaults(found)
    if (Object.keys(found).length > 0) return
    try {
      await proven(() => updateSelf({ ...proof, password: draft.next }))
    } catch (error) {
      if (error instanceof ApiError && error.code === 'ProofNeeded') setByCode(true)
      const field = error instanceof ApiError ? FIELD_OF[error.code] : undefined
      if (field === undefined) throw error
      return setFaults({ [field]: (error as ApiError).message })
    }
    showSuccess(t('me.passwordChanged'))
    await onChanged()
    reset()
    needNoOther()
  }
  const change = (patch: Partial<PasswordDraft>) => {
    setDraft((now) => ({ ...now, ...patch }))
    setFaults((now) =>
      Object.fromEntries(Object.entries(now).filter(([field]) => !(field in patch))),
    )
  }
  return {
    draft,
    change,
    faults,
    isByCode,
    asksFirst: hasPassword || isByCode,
    isBusy,
    submit,
    /** Uses another proof than the fields. */
    set,
    reset,
  }
}

/** The errors of a draft by field, translated. */
function useFaults(hasPassword: boolean): (draft: PasswordDraft) => Faults {
  const { t } = useTranslation()
  return ({ current, next, again }) => ({
    ...(hasPassword && current === '' && { current: t('me.currentRequired') }),
    ...([...next].length < PASSWORD_LENGTH_MIN && { next: t('me.passwordTooShort') }),
    ...([...next].length > PASSWORD_LENGTH_MAX && { next: t('me.passwordTooLong') }),
    ...(again !== next && { again: t('me.passwordsDiffer') }),
    ...(again === '' && next === '' && { again: t('me.againRequired') }),
  })
}

/** The user has chosen the password, so the reset password no longer has to be replaced. */
function needNoOther(): void {
  const user = storedUser()
  if (user?.must_change_password !== true) return
  const { must_change_password: _, ...rest } = user
  storeUser(rest)
}

/** Changes the user's name or password; a new password requires the current one. */
async function updateSelf(change: UpdateSelf): Promise<void> {
  const renewsSession = Boolean(change.password)
  await request({ method: 'PUT', path: '/api/user/self', body: change, renewsSession })
}
