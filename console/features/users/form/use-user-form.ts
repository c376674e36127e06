import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { storedUser, storeUser } from '#console/api/session.ts'
import { usersKey } from '#console/api/user-queries.ts'
import { IDENTITY_PROOF_ERRORS, USERNAME_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  type DraftForm,
  errorsByCode,
  type FieldCodes,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { User } from '#read-api/contract/users.ts'
import type { UpdateSelf } from '#write-api/contract/users.ts'
import {
  createUserBody,
  draftOfUser,
  type FormKind,
  newUser,
  type UserDraft,
  type UserErrorKey,
  updateSelfBody,
  updateUserBody,
  validateUser,
} from './user-draft.ts'

export type UserFormOptions = {
  isOpen: boolean
  kind: FormKind
  user: User | null
  /**
   * Called after a save, or when the user closes the form. If there are unsaved changes, the user
   * must first agree to discard them.
   */
  onClose: () => void
}

const FIELD_CODES: FieldCodes<UserDraft> = {
  username: USERNAME_ERRORS,
  password: ['PasswordTooShort', 'PasswordTooLong'],
  originalPassword: ['WrongOriginalPassword', ...IDENTITY_PROOF_ERRORS],
}

export function useUserForm(options: UserFormOptions): DraftForm<UserDraft> {
  const { t } = useTranslation()
  const { kind, user } = options
  const save = useSave(options)
  const form = useDraftForm<UserDraft, UserErrorKey>({
    initial: () => (user === null ? newUser() : draftOfUser(user)),
    validate: (draft, before) => validateUser(kind, before, draft),
    errorText: (errorKey) =>
      t(
        errorKey === 'passwordTooShort' || errorKey === 'passwordTooLong'
          ? `auth.${errorKey}`
          : `users.error.${errorKey}`,
      ),
    save: async (draft, before) => {
      try {
        await save(before, draft)
      } catch (error) {
        // An account with two-step login but no password needs a code as proof of identity.
        const needsCode = error instanceof ApiError && error.code === 'ProofNeeded'
        if (needsCode) form.change({ proof: 'code' })
        throw error
      }
    },
    errorsOf: errorsByCode(FIELD_CODES),
    onRepeat: options.onClose,
  })
  useLeaveGuard(options.isOpen && form.isChanged && kind !== 'new')
  return form
}

/**
 * Saves the user's own profile. A new display name is also written to the user data that this
 * browser stores, because the top bar shows this name.
 */
async function updateSelf(change: UpdateSelf): Promise<void> {
  await call('PUT /api/user/self', { body: change })
  const own = storedUser()
  const { display_name } = change
  if (own === null || display_name === undefined) return
  storeUser({ ...own, display_name: display_name || own.username })
}

const KEEP_ON_NEXT_PAGE = { staysOnNavigation: true }

function useSave({ kind, user, onClose }: UserFormOptions) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return async (before: UserDraft, draft: UserDraft) => {
    if (user === null) {
      await call('POST /api/user/', { body: createUserBody(draft) })
      showSuccess(t('users.userCreated'), KEEP_ON_NEXT_PAGE)
    } else {
      const changed =
        kind === 'self' ? updateSelfBody(before, draft) : updateUserBody(before, draft)
      if (Object.keys(changed).length === 0) return showInfo(t('users.unchanged'))
      try {
        if (kind === 'self') await updateSelf(changed)
        else await call('PUT /api/user/', { body: { id: user.id, ...changed } })
      } catch (error) {
        const isAnswered = error instanceof ApiError && error.status > 0
        throw isAnswered ? error : new Error(t('users.updateFailed'))
      }
      showSuccess(t('users.saved'), KEEP_ON_NEXT_PAGE)
    }
    await client.invalidateQueries({ queryKey: usersKey })
    onClose()
  }
}
