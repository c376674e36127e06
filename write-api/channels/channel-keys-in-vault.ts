import type { Vault } from '#infra/vault/port.ts'

export const ownerOf = (channelId: number): string => `channel:${channelId}`

/** Stores keys in the vault. Returns their references in the same order. */
export async function storeChannelKeys(
  vault: Vault,
  channelId: number,
  keys: readonly string[],
): Promise<string[]> {
  const refs: string[] = []
  for (const key of keys) refs.push(await vault.putSecret('channel-key', ownerOf(channelId), key))
  return refs
}

/** Reads keys to copy or compare them. Keys are never part of a response. */
export async function readChannelKeys(
  vault: Vault,
  channelId: number,
  refs: readonly string[],
): Promise<string[]> {
  const owner = ownerOf(channelId)
  const keys = await vault.getSecrets(
    'channel-key',
    refs.map((ref) => ({ owner, ref })),
  )
  return refs.flatMap((ref) => keys.get(ref) ?? [])
}

export async function deleteChannelSecrets(vault: Vault, refs: Iterable<string>): Promise<void> {
  for (const ref of refs) await vault.deleteSecret(ref)
}
