import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { storedUser, storeUser } from '#console/api/session.ts'
import { usersKey } from '#console/api/users.ts'
import { PROOF_CODES, USERNAME_CODES } from '#console/ui/at-field.ts'
import { showInfo, showSuccess } from '#console/ui/toast.ts'
import { useLeaveGuard } from '#console/ui/use-leave-guard.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { User } from '#read-api/contract/users.ts'
import type { UpdateSelf } from '#write-api/contract/users.ts'
import {
  changedSelf,
  changedUser,
  createdUser,
  draftOfUser,
  type FormKind,
  newUser,
  type Refused,
  type UserDraft,
  type UserFaults,
  userFaults,
} from './user-draft.ts'

export type UserFormGiven = {
  isOpen: boolean
  kind: FormKind
  /** As on the server; null for a new one. */
  user: User | null
  /** Saved, or asked for twice. */
  onClose: () => void
}

/** The field that a refusal of the server is told at. */
const REFUSED_OF: Readonly<Record<string, keyof Refused>> = {
  ...Object.fromEntries(USERNAME_CODES.map((code) => [code, 'username'] as const)),
  PasswordTooShort: 'password',
  PasswordTooLong: 'password',
  WrongOriginalPassword: 'originalPassword',
  ...Object.fromEntries(PROOF_CODES.map((code) => [code, 'originalPassword'] as const)),
}

/** The draft of a user: nothing leaves it with a fault, and no change is lost unasked. */
export function useUserForm(given: UserFormGiven) {
  const { kind, user } = given
  const form = useRef<HTMLFormElement>(null)
  const [before] = useState(() => (user === null ? newUser() : draftOfUser(user)))
  const [draft, setDraft] = useState<UserDraft>(before)
  const [faults, setFaults] = useState<UserFaults>({})
  const [refused, setRefused] = useState<Refused>({})
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  useLeaveGuard(given.isOpen && isChanged && kind !== 'new')
  const save = useSave(given)
  const { isBusy, submit } = useSubmit(async () => {
    const found = userFaults(kind, before, draft)
    setFaults(found)
    setRefused({})
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    try {
      await save(before, draft)
    } catch (error) {
      // A first password behind two-step login: a code stands for the one that there is none of.
      if (error instanceof ApiError && error.code === 'ProofNeeded') {
        setDraft((now) => ({ ...now, proof: 'code' }))
      }
      const field = error instanceof ApiError ? REFUSED_OF[error.code] : undefined
      if (field === undefined) throw error
      setRefused({ [field]: (error as ApiError).message })
      focusFirstFault(form)
    }
  }, given.onClose)
  const onProved = async (proof: UpdateSelf) => {
    const found = userFaults(kind, before, { ...draft, proof: 'none' })
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    await save(before, { ...draft, proof: 'none' }, proof)
  }
  const onChange = (patch: Partial<UserDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    setRefused({})
    if (Object.keys(faults).length > 0) setFaults(userFaults(kind, before, next))
  }
  return {
    form,
    isChanged,
    isBusy,
    submit,
    fields: { kind, before, draft, faults, refused, onChange, onProved },
  }
}

/** The name is in the top bar, too. */
async function updateSelf(change: UpdateSelf): Promise<void> {
  await call('PUT /api/user/self', { body: change })
  const own = storedUser()
  const { display_name } = change
  if (own === null || display_name === undefined) return
  storeUser({ ...own, display_name: display_name || own.username })
}

/** Said while the form's address is left for the list's. */
const ALONG = { goesAlong: true }

function useSave({ kind, user, onClose }: UserFormGiven) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (before: UserDraft, draft: UserDraft, proof: UpdateSelf = {}) => {
    if (user === null) {
      await call('POST /api/user/', { body: createdUser(draft) })
      showSuccess(t('users.userCreated'), ALONG)
    } else {
      const changed = kind === 'self' ? changedSelf(before, draft) : changedUser(before, draft)
      if (Object.keys(changed).length === 0) return showInfo(t('users.unchanged'))
      try {
        if (kind === 'self') await updateSelf({ ...changed, ...proof })
        else await call('PUT /api/user/', { body: { id: user.id, ...changed } })
      } catch (error) {
        // What the server refuses it says itself; an answer that never came says nothing.
        const isAnswered = error instanceof ApiError && error.status > 0
        throw isAnswered ? error : new Error(t('users.updateFailed'))
      }
      showSuccess(t('users.saved'), ALONG)
    }
    await client.invalidateQueries({ queryKey: usersKey })
    onClose()
  }
}
