import { ApiError } from '#console/api/api-error.ts'

export const CODE_CODES = ['CodeWrong', 'CodeUsed'] as const
/** The server's codes for a missing or wrong proof of identity (password, code or passkey). */
export const PROOF_CODES = ['ProofNeeded', 'ProofWrong', ...CODE_CODES] as const
export const USERNAME_CODES = [
  'UsernameTaken',
  'UsernameTooLong',
  'UsernameInvalid',
  'UsernameUnseen',
  'UsernameIsMail',
] as const
export const MAIL_CODES = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

const FIELD_IN_MESSAGE = /(?:参数 (\w+) 无效：|Invalid field (\w+): )/

export function serverFieldError(error: unknown): { field: string; text: string } | null {
  if (!(error instanceof ApiError)) return null
  const named = FIELD_IN_MESSAGE.exec(error.message)
  if (named === null) return null
  const text = error.message.slice(named.index + named[0].length)
  return { field: named[1] ?? named[2] ?? '', text }
}

/** Shows an error with one of the `codes` at the field. Throws any other error. */
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
