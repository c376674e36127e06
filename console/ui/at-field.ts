import { ApiError } from '#console/api/api-error.ts'

/** Of a proof: a password, a code of the app, or a recovery code. */
export const PROOF_CODES = ['ProofNeeded', 'ProofWrong', 'CodeWrong', 'CodeUsed'] as const
/** Of a mail address. */
export const MAIL_CODES = ['MailRequired', 'MailInvalid', 'MailDomainNotAllowed'] as const

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
