import type { Vault } from '#infra/vault/port.ts'

const ownerOf = (userId: number): string => `user:${userId}`

/** Keeps the password's hash in the vault and answers its reference. */
export const keepPassword = (vault: Vault, userId: number, hash: string): Promise<string> =>
  vault.putSecret('password', ownerOf(userId), hash)

/**
 * Whether it is the password that `passwordRef` stands for. False once that one was replaced, and
 * for whoever has none: in the same time.
 */
export async function isPassword(
  vault: Vault,
  user: { readonly id: number; readonly passwordRef: string | null },
  password: string,
): Promise<boolean> {
  const ref = user.passwordRef
  if (ref === null) return vault.verifyPassword(password, NO_HASH)
  const found = await vault.getSecrets('password', [{ owner: ownerOf(user.id), ref }])
  return vault.verifyPassword(password, found.get(ref) ?? NO_HASH)
}

/** Takes as long as a real one and is nobody's: time does not tell unknown names from others. */
export const NO_HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
