import {
  type AccountDraft,
  type AccountErrorKey,
  EMPTY_ACCOUNT,
  validateAccount,
} from '#console/ui/forms/account-draft.ts'
import { MAIL_ERRORS, USERNAME_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import type { FieldCodes, FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import type { Register } from '#write-api/contract/registration.ts'

export type RegisterDraft = AccountDraft & { email: string; code: string }
export type RegisterErrorKey = AccountErrorKey | 'emailRequired' | 'emailInvalid' | 'codeRequired'

export const EMPTY_REGISTER: RegisterDraft = { ...EMPTY_ACCOUNT, email: '', code: '' }

export const FIELD_CODES: FieldCodes<RegisterDraft> = {
  username: USERNAME_ERRORS,
  password: ['PasswordTooShort', 'PasswordTooLong'],
  confirmPassword: ['PasswordsDiffer'],
  email: ['IdentityTaken', 'MailIsUsername', ...MAIL_ERRORS],
  code: ['MailCodeRequired', 'MailCodeWrong'],
}

/** Matches a text that looks like a mail address. The server validates the address completely. */
const MAIL_ADDRESS_PATTERN = /^[^\s@＠]+[@＠][^\s@＠]+$/

export function validateRegistration(
  draft: RegisterDraft,
  needsMail: boolean,
): FieldErrors<RegisterDraft, RegisterErrorKey> {
  return {
    ...validateAccount(draft),
    ...(needsMail && !MAIL_ADDRESS_PATTERN.test(draft.email.trim())
      ? { email: 'emailInvalid' }
      : {}),
    ...(needsMail && draft.email.trim() === '' ? { email: 'emailRequired' } : {}),
    ...(needsMail && draft.code.trim() === '' ? { code: 'codeRequired' } : {}),
  }
}

export function registerBody(
  draft: RegisterDraft,
  needsMail: boolean,
  affCode: string | null,
): Register {
  const { username, password, confirmPassword, email, code } = draft
  return {
    username: username.trim(),
    password,
    password2: confirmPassword,
    ...(needsMail ? { email: email.trim(), verification_code: code.trim() } : {}),
    ...(affCode === null ? {} : { aff_code: affCode.slice(0, 64) }),
  }
}
