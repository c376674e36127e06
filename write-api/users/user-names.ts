import { isName } from '#domain/shared/check-characters.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Vault } from '#infra/vault/port.ts'
import { findUserByNameKey } from '#projections/users/query.ts'
import { validationMessage } from '../error-messages-for-invalid-values.ts'
import { normalizeMailAddress } from '../mail/mail-address.ts'
import { userError } from './user-errors.ts'

/**
 * The maximum lengths for registrations and profiles. Admins can create users with longer
 * usernames.
 */
export const ACCOUNT_LIMITS = {
  usernameCharacters: 12,
  displayNameCharacters: 50,
} as const

const MAX = ACCOUNT_LIMITS.displayNameCharacters

/** Returns the normalized display name, which may be empty. Throws if the name is invalid. */
export function displayNameOf(text: string): string {
  const name = text.trim()
  if ([...name].length > MAX) {
    throw invalidField('display_name', {
      zh: `长度不能超过 ${MAX} 个字符`,
      en: `must have at most ${MAX} characters`,
    })
  }
  if (!isName(name))
    throw invalidField('display_name', validationMessage({ error: 'bad-character' }))
  return name
}

/**
 * Converts the user's name at a login provider to a display name. Invalid characters are removed,
 * and the length is limited.
 */
export const displayNameFrom = (providerName: string): string =>
  [...providerName]
    .filter((character) => isName(character))
    .slice(0, MAX)
    .join('')
    .trim()

const CHARACTERS_MAX = 64

/** Alphabets with letters that look like those of another one, such as the Cyrillic `а`. */
const ALPHABETS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/**
 * Reports whether a name has letters of several similar alphabets. Such a name can look like the
 * name of another user, for example of an admin.
 */
export const mixesAlphabets = (name: string): boolean =>
  ALPHABETS.filter((alphabet) => alphabet.test(name)).length > 1

/** Returns the normalized username. Throws if it is invalid or longer than `max` characters. */
export function usernameOf(text: string, max = CHARACTERS_MAX): string {
  const name = text.normalize('NFKC').trim()
  if (name === '') throw userError('UsernameRequired')
  if ([...name].length > max) throw userError('UsernameTooLong', { max })
  if (/\s/u.test(name)) throw userError('UsernameInvalid')
  if (/\p{C}/u.test(name)) throw userError('UsernameUnseen')
  if (mixesAlphabets(name)) throw userError('UsernameMixed')
  // The login form accepts usernames and email addresses, so a username must not be an email
  // address.
  if (normalizeMailAddress(name) !== null) throw userError('UsernameIsMail')
  return name
}

/**
 * Throws if an email address equals the username of another user. This is possible, because old
 * usernames may be email addresses.
 */
export async function assertNotAnotherUsername(
  { db, vault }: Pick<Core, 'db' | 'vault'>,
  address: string,
  userId: number | null,
): Promise<void> {
  const named = await findUserByNameKey(db, nameKeyOf(vault, address))
  const isOtherUser = named !== null && !named.isDeleted && named.id !== userId
  if (isOtherUser) throw userError('MailIsUsername')
}

/**
 * Returns the keyed hash by which a username is looked up. Usernames that differ only in case or
 * Unicode normalization have the same hash.
 */
export const nameKeyOf = (vault: Pick<Vault, 'keyedHash'>, text: string): string =>
  vault.keyedHash('username', text.normalize('NFKC').trim().toLowerCase())
