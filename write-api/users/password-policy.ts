import { refused } from '../refusals.ts'

const CHARACTERS_MIN = 8
const BYTES_MAX = 128

/** Throws when the text is no password to set, or has more characters than `max`. */
export function checkPassword(password: string, max = Number.POSITIVE_INFINITY): void {
  const { length } = [...password]
  if (length < CHARACTERS_MIN) throw refused('PasswordTooShort')
  if (length > max) throw refused('PasswordTooLong', { characters: max })
  if (Buffer.byteLength(password) > BYTES_MAX) throw refused('PasswordTooLong')
}
