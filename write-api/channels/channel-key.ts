import type { Vault } from '#infra/vault/port.ts'

export const ownerOf = (channelId: number): string => `channel:${channelId}`

/** Keeps a provider's keys in the vault and answers their references, in order. */
export async function keepChannelKeys(
  vault: Vault,
  channelId: number,
  keys: readonly string[],
): Promise<string[]> {
  const refs: string[] = []
  for (const key of keys) refs.push(await vault.putSecret('channel-key', ownerOf(channelId), key))
  return refs
}

/** To be copied or compared: no answer ever holds a key. */
export async function readChannelKeys(
  vault: Vault,
  from: number,
  refs: readonly string[],
): Promise<string[]> {
  const owner = ownerOf(from)
  const keys = await vault.getSecrets(
    'channel-key',
    refs.map((ref) => ({ owner, ref })),
  )
  return refs.flatMap((ref) => keys.get(ref) ?? [])
}

export async function dropKeys(vault: Vault, refs: Iterable<string>): Promise<void> {
  for (const ref of refs) await vault.deleteSecret(ref)
}
