import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
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

/** Where the server's refusals are told. */
const FIELD_OF: Readonly<Record<string, keyof PasswordDraft>> = {
  WrongOriginalPassword: 'current',
  ...Object.fromEntries(PROOF_CODES.map((code) => [code, 'current'] as const)),
  PasswordTooShort: 'next',
  PasswordTooLong: 'next',
  PasswordUnchanged: 'next',
}

/**
 * A new password, or a first one, which ends every session but this one. `hasPassword` false:
 * there is no current one to know, but with two-step login on a code stands for it.
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
    /** With another proof than the fields'. */
    set,
    reset,
  }
}

/** What is wrong with a draft, by field, in the words of the screen. */
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

/** Chosen by its owner: nothing is left to insist on. */
function needNoOther(): void {
  const user = storedUser()
  if (user?.must_change_password !== true) return
  const { must_change_password: _, ...rest } = user
  storeUser(rest)
}

/** Changes one's own name or password; a new password needs the present one. */
const updateSelf = (body: UpdateSelf) =>
  call('PUT /api/user/self', { body, renewsSession: Boolean(body.password) })
