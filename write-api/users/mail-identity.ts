import type { Core } from '#infra/core.ts'
import { findUserByIdentity, type UserRow } from '#projections/users/query.ts'
import { type Identity, identityKeyOf } from './identity.ts'

/** `address` as `mailAddressOf` spells it. */
export const mailIdentity = (address: string): Identity => ({ provider: 'email', id: address })

/** Whose address it is; null when it is nobody's, or of an account that is gone. */
export async function findMailOwner(
  { db, vault }: Pick<Core, 'db' | 'vault'>,
  address: string,
): Promise<UserRow | null> {
  const key = identityKeyOf(vault, mailIdentity(address))
  const owner = await findUserByIdentity(db, 'email', key)
  return owner === null || owner.isDeleted ? null : owner
}
