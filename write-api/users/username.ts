import type { Core } from '#infra/core.ts'
import type { Vault } from '#infra/vault/port.ts'
import { findUserByNameKey } from '#projections/users/query.ts'
import { spelled } from '../mail/mail-address.ts'
import { refused } from '../refusals.ts'

const CHARACTERS_MAX = 64

/** The name as it is kept and shown; throws when it can't be one, or is longer than `max`. */
export function usernameOf(text: string, max = CHARACTERS_MAX): string {
  const name = text.normalize('NFKC').trim()
  if (name === '') throw refused('UsernameRequired')
  if ([...name].length > max) throw refused('UsernameTooLong', { max })
  if (/\s/u.test(name)) throw refused('UsernameInvalid')
  if (/\p{C}/u.test(name)) throw refused('UsernameUnseen')
  // Who logs in types the one or the other: what may be both would be two people's.
  if (spelled(name) !== null) throw refused('UsernameIsMail')
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
  if (isAnother) throw refused('MailIsUsername')
}

/** Names that differ in case or in how Unicode writes them are one name. */
export const nameKeyOf = (vault: Pick<Vault, 'keyedHash'>, text: string): string =>
  vault.keyedHash('username', text.normalize('NFKC').trim().toLowerCase())
