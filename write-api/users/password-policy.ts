import { refused } from '../refusals.ts'

const CHARACTERS_MIN = 8
const BYTES_MAX = 128

/** Throws when the text is no password to set. */
export function checkPassword(password: string): void {
  if ([...password].length < CHARACTERS_MIN) throw refused('PasswordTooShort')
  if (Buffer.byteLength(password) > BYTES_MAX) throw refused('PasswordTooLong')
}
