import { refused } from '../refusals.ts'

const CHARACTERS_MIN = 8
const CHARACTERS_MAX = 128

/**
 * Throws `PasswordTooShort` or `PasswordTooLong` when the text may not become a password. Counts
 * characters (Unicode code points), so that a passphrase may be as long in every script: 128 of
 * them are 512 bytes at most, all of which are hashed (`infra/vault/password-hash.ts`).
 */
export function checkPassword(password: string): void {
  const { length } = [...password]
  if (length < CHARACTERS_MIN) throw refused('PasswordTooShort')
  if (length > CHARACTERS_MAX) throw refused('PasswordTooLong', { characters: CHARACTERS_MAX })
}
