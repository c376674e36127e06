import { ApiError } from '#console/api/api-error.ts'

export const CODE_CODES = ['CodeWrong', 'CodeUsed'] as const
/**
 * The server's error codes for a missing or wrong proof of identity, which is a password, a code or
 * a passkey.
 */
export const PROOF_CODES = ['ProofNeeded', 'ProofWrong', ...CODE_CODES] as const
export const USERNAME_CODES = [
  'UsernameTaken',
  'UsernameTooLong',
  'UsernameInvalid',
  'UsernameUnseen',
  'UsernameIsMail',
] as const
export const MAIL_CODES = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

/**
 * Runs an action and shows an error with one of the `codes` at the field. Any other error is
 * thrown.
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
