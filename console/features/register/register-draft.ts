import type { Register } from '#write-api/contract/entry.ts'

export type RegisterDraft = {
  username: string
  password: string
  password2: string
  email: string
  code: string
}

export type RegisterField = keyof RegisterDraft

export type RegisterFault =
  | 'needName'
  | 'longName'
  | 'shortPassword'
  | 'longPassword'
  | 'mismatch'
  | 'needEmail'
  | 'needCode'

export const EMPTY_REGISTER: RegisterDraft = {
  username: '',
  password: '',
  password2: '',
  email: '',
  code: '',
}

const USERNAME_LENGTH_MAX = 12
const PASSWORD_LENGTH_MIN = 8
const PASSWORD_LENGTH_MAX = 20

/** What is wrong, by field, in the order of the form. */
export function registerFaults(
  draft: RegisterDraft,
  needsMail: boolean,
): Partial<Record<RegisterField, RegisterFault>> {
  const username = lengthOf(draft.username.trim())
  const password = lengthOf(draft.password)
  return {
    ...(username === 0 ? { username: 'needName' } : {}),
    ...(username > USERNAME_LENGTH_MAX ? { username: 'longName' } : {}),
    ...(password < PASSWORD_LENGTH_MIN ? { password: 'shortPassword' } : {}),
    ...(password > PASSWORD_LENGTH_MAX ? { password: 'longPassword' } : {}),
    ...(draft.password !== draft.password2 ? { password2: 'mismatch' } : {}),
    ...(needsMail && draft.email.trim() === '' ? { email: 'needEmail' } : {}),
    ...(needsMail && draft.code.trim() === '' ? { code: 'needCode' } : {}),
  }
}

const lengthOf = (text: string): number => [...text].length

/** `affCode`: of whoever invited; null for none. */
export function registerBody(
  draft: RegisterDraft,
  needsMail: boolean,
  affCode: string | null,
): Register {
  const { username, password, password2, email, code } = draft
  return {
    username: username.trim(),
    password,
    password2,
    ...(needsMail ? { email: email.trim(), verification_code: code.trim() } : {}),
    ...(affCode === null ? {} : { aff_code: affCode.slice(0, 64) }),
  }
}
