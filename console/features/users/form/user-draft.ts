import type { Translations } from '#console/i18n/translation-types.ts'
import {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  USERNAME_LENGTH_MAX,
} from '#console/ui/forms/new-account-fields.tsx'
import type { DraftForm, FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import type { User } from '#read-api/contract/users.ts'
import type { CreateUser, UpdateSelf, UpdateUser } from '#write-api/contract/users.ts'

/** The values of the forms for a user. Fields that a form does not show are empty. */
export type UserDraft = {
  username: string
  displayName: string
  password: string
  /** The way in which users prove their identity when they change their own password. */
  proof: 'password' | 'code' | 'none'
  originalPassword: string
  group: string
  reason: string
  /** A proof of identity with a passkey. It is sent instead of the password or the code. */
  passkey?: UpdateSelf['passkey']
}

export type FormKind = 'new' | 'existing' | 'self'

type PasswordErrorKey = 'passwordTooShort' | 'passwordTooLong'
export type UserErrorKey = PasswordErrorKey | keyof Translations['users']['error']
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
 * Returns the fields of a user that an admin has changed. The balance is not included, because a
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
