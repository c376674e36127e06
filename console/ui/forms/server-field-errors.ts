import { ApiError } from '#console/api/api-error.ts'

/** The error codes of the server for a one-time code that is wrong or was used before. */
export const ONE_TIME_CODE_ERRORS = ['CodeWrong', 'CodeUsed'] as const
/**
 * The error codes of the server for a missing or wrong proof of identity: a password, a code or a
 * passkey.
 */
export const IDENTITY_PROOF_ERRORS = ['ProofNeeded', 'ProofWrong', ...ONE_TIME_CODE_ERRORS] as const
export const USERNAME_ERRORS = [
  'UsernameTaken',
  'UsernameTooLong',
  'UsernameInvalid',
  'UsernameUnseen',
  'UsernameMixed',
  'UsernameIsMail',
] as const
export const MAIL_ERRORS = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

/**
 * Runs an action. If the action fails with one of the error codes, shows the message at a field of
 * the form. Rethrows any other error.
 */
export async function showErrorAtField(
  codes: readonly string[],
  showText: (text: string) => void,
  perform: () => Promise<void>,
): Promise<void> {
  try {
    await perform()
  } catch (error) {
    if (!(error instanceof ApiError) || !codes.includes(error.code)) throw error
    showText(error.message)
  }
}

/** The validation errors that have the same text in all forms. */
const SHARED_ERROR_KEYS = [
  'notNumber',
  'negative',
  'notInteger',
  'notJson',
  'expiryPast',
  'modelsMissing',
] as const

type SharedErrorKey = (typeof SHARED_ERROR_KEYS)[number]

export const isSharedErrorKey = (errorKey: string): errorKey is SharedErrorKey =>
  SHARED_ERROR_KEYS.some((shared) => shared === errorKey)
