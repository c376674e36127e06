import { ApiError } from '#console/api/api-error.ts'

/** Of a code of the app, or a recovery code. */
export const CODE_CODES = ['CodeWrong', 'CodeUsed'] as const
/** Of a proof: a password, or one of those codes. */
export const PROOF_CODES = ['ProofNeeded', 'ProofWrong', ...CODE_CODES] as const
/** Of a new username. */
export const USERNAME_CODES = [
  'UsernameTaken',
  'UsernameTooLong',
  'UsernameInvalid',
  'UsernameUnseen',
  'UsernameIsMail',
] as const
/** Of a mail address. */
export const MAIL_CODES = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

const NAMED = /(?:参数 (\w+) 无效：|Invalid field (\w+): )/

/** The field that the server named, and what is wrong with it; null: it named none. */
export function namedField(error: unknown): { field: string; text: string } | null {
  if (!(error instanceof ApiError)) return null
  const named = NAMED.exec(error.message)
  if (named === null) return null
  const text = error.message.slice(named.index + named[0].length)
  return { field: named[1] ?? named[2] ?? '', text }
}

/** Runs `act`; what is refused by one of `codes` is told at its field, the rest is thrown on. */
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
