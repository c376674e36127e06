import type { Recorded } from '#domain/shared/event.ts'
import { type UserEvent, userStream } from '#domain/user/events.ts'
import type { Core } from '#infra/core.ts'
import type { Vault } from '#infra/vault/port.ts'
import { userError } from './user-errors.ts'

const CHARACTERS_MIN = 8
const CHARACTERS_MAX = 128

/**
 * Throws `PasswordTooShort` or `PasswordTooLong` when the text may not become a password. Counts
 * characters (Unicode code points), so that a passphrase may be as long in every script: 128 of
 * them are 512 bytes at most, all of which are hashed (`infra/vault/password-hash.ts`).
 */
export function checkPassword(password: string): void {
  const { length } = [...password]
  if (length < CHARACTERS_MIN) throw userError('PasswordTooShort')
  if (length > CHARACTERS_MAX) throw userError('PasswordTooLong', { characters: CHARACTERS_MAX })
}

const ownerOf = (userId: number): string => `user:${userId}`

/** Keeps the password's hash in the vault and answers its reference. */
export const storePassword = (vault: Vault, userId: number, hash: string): Promise<string> =>
  vault.putSecret('password', ownerOf(userId), hash)

/**
 * Whether it is the password that `passwordRef` stands for. False once that one was replaced, and
 * for whoever has none, or is nobody: in the same time.
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
 * Once a password was changed: the hashes of those before are gone. By the events alone, so that
 * one that is about to be another's is never touched; what a crash left is gone with the next.
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

/** Nobody's. */
const NO_REF = '00000000-0000-0000-0000-000000000000'

/** Takes as long as a real one and is nobody's: time does not tell unknown names from others. */
const NO_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
