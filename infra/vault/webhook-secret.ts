import type { Vault } from './port.ts'

/** What a user's webhooks are signed with; null: nothing; undefined: it is kept no more. */
export async function webhookSecret(
  vault: Pick<Vault, 'getSecrets'>,
  userId: number,
  ref: string | null,
): Promise<string | null | undefined> {
  if (ref === null) return null
  return (await vault.getSecrets('webhook', [{ owner: `user:${userId}`, ref }])).get(ref)
}
