import { PASSWORD_LENGTH_MAX, USERNAME_LENGTH_MAX } from '#console/ui/account-draft.ts'
import type { User } from '#read-api/contract/user.ts'
import type { CreateUser, UpdateSelf, UpdateUser } from '#write-api/contract/user.ts'

/** What the form holds: the quota as typed. What a kind of form has no field for stays empty. */
export type UserDraft = {
  username: string
  displayName: string
  password: string
  /** What one's own new password needs: the current one; or, without one, a code or nothing. */
  proof: 'password' | 'code' | 'none'
  originalPassword: string
  group: string
  quota: string
  /** Why the group or the quota changes. */
  reason: string
}

/** A new user; another one, by an admin; or oneself, without group and quota. */
export type FormKind = 'new' | 'other' | 'self'

export type UserFault =
  | 'bothMissing'
  | 'nameLong'
  | 'passwordShort'
  | 'passwordLong'
  | 'originalMissing'
  | 'codeMissing'
  | 'quotaWrong'
  | 'quotaTooLow'
  | 'reasonMissing'
export type UserFaults = Partial<Record<keyof UserDraft, UserFault>>
/** What the server refused, in its own words. */
export type Refused = Partial<Record<'username' | 'password' | 'originalPassword', string>>

const PASSWORD_MIN = 8
const QUOTA_MAX = BigInt(Number.MAX_SAFE_INTEGER)

export const newUser = (): UserDraft => ({
  username: '',
  displayName: '',
  password: '',
  proof: 'password',
  originalPassword: '',
  group: '',
  quota: '',
  reason: '',
})

export const draftOfUser = (user: User): UserDraft => ({
  ...newUser(),
  username: user.username,
  displayName: user.display_name,
  proof: user.has_password === false ? 'none' : 'password',
  group: user.group,
  quota: String(user.quota),
})

export function userFaults(kind: FormKind, before: UserDraft, draft: UserDraft): UserFaults {
  const faults: UserFaults = {}
  const { password } = draft
  if (kind === 'new') {
    if (draft.username.trim() === '') faults.username = 'bothMissing'
    else if (lengthOf(draft.username.trim()) > USERNAME_LENGTH_MAX) faults.username = 'nameLong'
    if (password === '') faults.password = 'bothMissing'
    else if (lengthOf(password) > PASSWORD_LENGTH_MAX) faults.password = 'passwordLong'
  }
  if (password !== '' && lengthOf(password) < PASSWORD_MIN) faults.password = 'passwordShort'
  if (kind === 'self' && asksProof(draft) && draft.originalPassword.trim() === '') {
    faults.originalPassword = draft.proof === 'code' ? 'codeMissing' : 'originalMissing'
  }
  const quota = kind === 'other' ? quotaFault(before, draft) : undefined
  if (quota !== undefined) faults.quota = quota
  if (kind === 'other' && asksReason(before, draft) && draft.reason.trim() === '') {
    faults.reason = 'reasonMissing'
  }
  return faults
}

/** What is wrong with a changed balance. */
export function quotaFault(before: UserDraft, draft: UserDraft): UserFault | undefined {
  if (draft.quota.trim() === before.quota) return undefined
  const quota = quotaOfText(draft.quota)
  if (quota === null) return 'quotaWrong'
  return quota < 0n ? 'quotaTooLow' : undefined
}

const lengthOf = (text: string): number => [...text].length

/** Whether a field for it is shown. */
export const asksProof = ({ password, proof }: UserDraft): boolean =>
  password !== '' && proof !== 'none'

/** Whether the change is one that is kept with its reason. */
export const asksReason = (before: UserDraft, { quota, group }: UserDraft): boolean =>
  quota.trim() !== before.quota || group !== before.group

/** Null unless it is a whole number that the wire can carry. */
export function quotaOfText(text: string): bigint | null {
  if (!/^-?\d{1,17}$/.test(text.trim())) return null
  const quota = BigInt(text.trim())
  return quota > QUOTA_MAX || quota < -QUOTA_MAX ? null : quota
}

export const createdUser = ({ username, password, displayName }: UserDraft): CreateUser => ({
  username: username.trim(),
  password,
  ...(displayName.trim() === '' ? {} : { display_name: displayName.trim() }),
})

/**
 * Only what the drawer changed: a quota left alone is not sent, so that calls made meanwhile are
 * not given back.
 */
export function changedUser(before: UserDraft, after: UserDraft): Omit<UpdateUser, 'id'> {
  const quota = after.quota.trim() === before.quota ? null : quotaOfText(after.quota)
  return {
    ...ownChanges(before, after),
    ...(after.group === before.group ? {} : { group: after.group }),
    ...(quota === null ? {} : { quota: Number(quota) }),
    ...(asksReason(before, after) ? { reason: after.reason.trim() } : {}),
  }
}

export const changedSelf = (before: UserDraft, after: UserDraft): UpdateSelf => ({
  ...ownChanges(before, after),
  ...(asksProof(after) ? proofOf(after) : {}),
})

const proofOf = ({ proof, originalPassword: typed }: UserDraft): UpdateSelf =>
  proof === 'code' ? { code: typed.trim() } : { original_password: typed }

const ownChanges = (before: UserDraft, after: UserDraft) => ({
  ...(after.displayName.trim() === before.displayName
    ? {}
    : { display_name: after.displayName.trim() }),
  ...(after.password === '' ? {} : { password: after.password }),
})
