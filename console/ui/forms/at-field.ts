import { ApiError } from '#console/api/api-error.ts'

/** Error codes that concern a code of the authenticator app or a recovery code. */
export const CODE_CODES = ['CodeWrong', 'CodeUsed'] as const
/** Error codes that concern a proof of identity: a password, or one of those codes. */
export const PROOF_CODES = ['ProofNeeded', 'ProofWrong', ...CODE_CODES] as const
/** Error codes that concern a new username. */
export const USERNAME_CODES = [
  'UsernameTaken',
  'UsernameTooLong',
  'UsernameInvalid',
  'UsernameUnseen',
  'UsernameIsMail',
] as const
/** Error codes that concern a mail address. */
export const MAIL_CODES = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

const NAMED = /(?:参数 (\w+) 无效：|Invalid field (\w+): )/

/** The field that the server named and its fault; null if it named none. */
export function namedField(error: unknown): { field: string; text: string } | null {
  if (!(error instanceof ApiError)) return null
  const named = NAMED.exec(error.message)
  if (named === null) return null
  const text = error.message.slice(named.index + named[0].length)
  return { field: named[1] ?? named[2] ?? '', text }
}

/** Runs `act`; a refusal with one of `codes` is shown at its field, other errors are rethrown. */
export async function atField(
  codes: readonly string[],
  tell: (words: string) => void,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof ApiError) || !codes.includes(error.code)) throw error
    tell(error.message)
  }
}
