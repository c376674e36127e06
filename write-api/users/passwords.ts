import type { Recorded } from '#domain/shared/event.ts'
import { type UserEvent, userStream } from '#domain/users/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Vault } from '#infra/vault/port.ts'
import { userError } from './user-errors.ts'

const CHARACTERS_MIN = 8
const CHARACTERS_MAX = 128

/**
 * Throws if the password is too short or too long. The length is counted in Unicode code points, so
 * that it is the same in every script. The maximum of 128 code points is at most 512 bytes, and all
 * of these bytes are hashed (`infra/vault/password-hash.ts`).
 */
export function checkPassword(password: string): void {
  const { length } = [...password]
  if (length < CHARACTERS_MIN) throw userError('PasswordTooShort')
  if (length > CHARACTERS_MAX) throw userError('PasswordTooLong', { characters: CHARACTERS_MAX })
}

const ownerOf = (userId: number): string => `user:${userId}`

/** Stores the hash in the vault. Returns the vault reference. */
export const storePassword = (vault: Vault, userId: number, hash: string): Promise<string> =>
  vault.putSecret('password', ownerOf(userId), hash)

/**
 * Reports whether a text is the user's current password. The check takes the same time for an
 * unknown user and for a user without a password.
 */
export async function isPassword(
  vault: Vault,
  user: { readonly id: number; readonly passwordRef: string | null } | null,
  password: string,
): Promise<boolean> {
  const ref = user?.passwordRef ?? NO_REF
  const found = await vault.getSecrets('password', [{ owner: ownerOf(user?.id ?? 0), ref }])
  return vault.verifyPassword(password, found.get(ref) ?? NO_HASH)
}

/**
 * Deletes the hashes of earlier passwords from the vault. The references of the hashes come from
 * the events, so a new hash whose event is not appended yet is kept. If a crash leaves old hashes,
 * the next change of the password deletes them.
 */
export async function deleteOldPasswords(
  { store, vault }: Pick<Core, 'store' | 'vault'>,
  userId: number,
): Promise<void> {
  const events = (await store.readStream(userStream(userId))) as Recorded<UserEvent>[]
  const refs = events.flatMap(({ type, data }) =>
    type === 'UserCreated' || type === 'UserPasswordChanged' ? (data.passwordRef ?? []) : [],
  )
  for (const ref of refs.slice(0, -1)) await vault.deleteSecret(ref)
}

/**
 * A vault reference under which no password is stored. It is looked up for an unknown user or a
 * user without a password, so that the response time is the same for all users.
 */
const NO_REF = '00000000-0000-0000-0000-000000000000'

/**
 * A hash that no password matches. It is verified for an unknown user or a user without a password,
 * so that the response time does not reveal whether the user exists.
 */
const NO_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
