import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { storedUser, storeUser } from '#console/api/session.ts'
import { usersKey } from '#console/api/user-queries.ts'
import type { Translations } from '#console/i18n/translation-types.ts'
import {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  USERNAME_LENGTH_MAX,
} from '#console/ui/forms/account-fields.tsx'
import { IDENTITY_PROOF_ERRORS, USERNAME_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import {
  type DraftForm,
  errorsByCode,
  type FieldCodes,
  type FieldErrors,
  useDraftForm,
} from '#console/ui/forms/use-draft-form.ts'
import { useLeaveGuard } from '#console/ui/forms/use-leave-guard.ts'
import { showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import type { User } from '#read-api/contract/users.ts'
import type { CreateUser, UpdateSelf, UpdateUser } from '#write-api/contract/users.ts'

export type UserFormOptions = {
  isOpen: boolean
  kind: FormKind
  user: User | null
  /**
   * Called when the form closes: after it is saved, or when the user closes it. If there are
   * unsaved changes, the user must first agree to discard them.
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
 * Saves the user's own profile. A new display name is also written to the user that this browser
 * stores, because the top bar shows this user's name.
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

/** The values of the forms for a user. Fields that a form does not show are empty. */
type UserDraft = {
  username: string
  displayName: string
  password: string
  /** The way in which users prove their identity when they change their own password. */
  proof: 'password' | 'code' | 'none'
  originalPassword: string
  group: string
  reason: string
  /** A proof of identity with a passkey, which is sent instead of the password or the code. */
  passkey?: UpdateSelf['passkey']
}

type FormKind = 'new' | 'existing' | 'self'

type PasswordErrorKey = 'passwordTooShort' | 'passwordTooLong'
type UserErrorKey = PasswordErrorKey | keyof Translations['users']['error']
type UserErrorKeys = FieldErrors<UserDraft, UserErrorKey>

export const newUser = (): UserDraft => ({
  username: '',
  displayName: '',
  password: '',
  proof: 'password',
  originalPassword: '',
  group: '',
  reason: '',
})

export const draftOfUser = (user: User): UserDraft => ({
  ...newUser(),
  username: user.username,
  displayName: user.display_name,
  proof: user.has_password === false ? 'none' : 'password',
  group: user.group,
})

export function validateUser(kind: FormKind, before: UserDraft, draft: UserDraft): UserErrorKeys {
  const errorKeys: UserErrorKeys = {}
  const { password } = draft
  if (kind === 'new') {
    if (draft.username.trim() === '') errorKeys.username = 'bothMissing'
    else if (lengthOf(draft.username.trim()) > USERNAME_LENGTH_MAX) errorKeys.username = 'nameLong'
    if (password === '') errorKeys.password = 'bothMissing'
  }
  if (password !== '' && lengthOf(password) < PASSWORD_LENGTH_MIN)
    errorKeys.password = 'passwordTooShort'
  if (lengthOf(password) > PASSWORD_LENGTH_MAX) errorKeys.password = 'passwordTooLong'
  if (kind === 'self' && needsIdentityProof(draft) && draft.originalPassword.trim() === '') {
    errorKeys.originalPassword = draft.proof === 'code' ? 'codeMissing' : 'originalMissing'
  }
  if (kind === 'existing' && needsReason(before, draft) && draft.reason.trim() === '') {
    errorKeys.reason = 'reasonMissing'
  }
  return errorKeys
}

const lengthOf = (text: string): number => [...text].length

export const needsIdentityProof = ({ password, proof }: UserDraft): boolean =>
  password !== '' && proof !== 'none'

export const needsReason = (before: UserDraft, { group }: UserDraft): boolean =>
  group !== before.group

export const createUserBody = ({ username, password, displayName }: UserDraft): CreateUser => ({
  username: username.trim(),
  password,
  ...(displayName.trim() === '' ? {} : { display_name: displayName.trim() }),
})

/**
 * Returns the fields of a user that an admin has changed. The balance is not among them, because a
 * separate form changes it.
 */
export const updateUserBody = (before: UserDraft, after: UserDraft): Omit<UpdateUser, 'id'> => ({
  ...ownChanges(before, after),
  ...(needsReason(before, after) ? { group: after.group, reason: after.reason.trim() } : {}),
})

export const updateSelfBody = (before: UserDraft, after: UserDraft): UpdateSelf => ({
  ...ownChanges(before, after),
  ...(needsIdentityProof(after) ? proofOf(after) : {}),
  ...(after.passkey === undefined ? {} : { passkey: after.passkey }),
})

const proofOf = ({ proof, originalPassword: typed }: UserDraft): UpdateSelf =>
  proof === 'code' ? { code: typed.trim() } : { original_password: typed }

const ownChanges = (before: UserDraft, after: UserDraft) => ({
  ...(after.displayName.trim() === before.displayName
    ? {}
    : { display_name: after.displayName.trim() }),
  ...(after.password === '' ? {} : { password: after.password }),
})

export type UserFormProps = { kind: FormKind; form: DraftForm<UserDraft> }
