import { isName } from '#domain/shared/characters.ts'
import type { Core } from '#infra/core.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Vault } from '#infra/vault/port.ts'
import { findUserByNameKey } from '#projections/users/query.ts'
import { normalizeMailAddress } from '../mail/mail-address.ts'
import { validationWords } from '../validation-words.ts'
import { userError } from './user-errors.ts'

/** What the forms say, for every client; admins' scripts may give longer names. */
export const ACCOUNT_LIMITS = {
  usernameCharacters: 12,
  displayNameCharacters: 50,
} as const

const MAX = ACCOUNT_LIMITS.displayNameCharacters

/** The display name as it is kept, empty for none; throws when it can't be one. */
export function displayNameOf(text: string): string {
  const name = text.trim()
  if ([...name].length > MAX) {
    throw invalidField('display_name', {
      zh: `长度不能超过 ${MAX} 个字符`,
      en: `must have at most ${MAX} characters`,
    })
  }
  if (!isName(name)) throw invalidField('display_name', validationWords({ fault: 'bad-character' }))
  return name
}

/** Of what a provider calls somebody, as much as can be a display name here. */
export const displayNameFrom = (theirs: string): string =>
  [...theirs]
    .filter((character) => isName(character))
    .slice(0, MAX)
    .join('')
    .trim()

const CHARACTERS_MAX = 64

/** The name as it is kept and shown; throws when it can't be one, or is longer than `max`. */
export function usernameOf(text: string, max = CHARACTERS_MAX): string {
  const name = text.normalize('NFKC').trim()
  if (name === '') throw userError('UsernameRequired')
  if ([...name].length > max) throw userError('UsernameTooLong', { max })
  if (/\s/u.test(name)) throw userError('UsernameInvalid')
  if (/\p{C}/u.test(name)) throw userError('UsernameUnseen')
  // Who logs in types the one or the other: what may be both would be two people's.
  if (normalizeMailAddress(name) !== null) throw userError('UsernameIsMail')
  return name
}

/** Throws when the address is the name of another user, as names of before may be. */
export async function refuseNameOfAnother(
  { db, vault }: Pick<Core, 'db' | 'vault'>,
  address: string,
  userId: number | null,
): Promise<void> {
  const named = await findUserByNameKey(db, nameKeyOf(vault, address))
  const isAnother = named !== null && !named.isDeleted && named.id !== userId
  if (isAnother) throw userError('MailIsUsername')
}

/** Names that differ in case or in how Unicode writes them are one name. */
export const nameKeyOf = (vault: Pick<Vault, 'keyedHash'>, text: string): string =>
  vault.keyedHash('username', text.normalize('NFKC').trim().toLowerCase())
