import type { Vault } from '#infra/vault/port.ts'
import { refused } from '../refusals.ts'

const CHARACTERS_MAX = 64

/** The name as it is kept and shown; throws when it can't be one, or is longer than `max`. */
export function usernameOf(text: string, max = CHARACTERS_MAX): string {
  const name = text.normalize('NFKC').trim()
  if (name === '') throw refused('UsernameRequired')
  if ([...name].length > max) throw refused('UsernameTooLong', { max })
  if (/[\s\p{C}]/u.test(name)) throw refused('UsernameInvalid')
  return name
}

/** Names that differ in case or in how Unicode writes them are one name. */
export const nameKeyOf = (vault: Pick<Vault, 'keyedHash'>, text: string): string =>
  vault.keyedHash('username', text.normalize('NFKC').trim().toLowerCase())
