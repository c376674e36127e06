import type { Vault } from '#infra/vault/port.ts'

export const ownerOf = (channelId: number): string => `channel:${channelId}`

/** Stores the keys of a channel in the vault. Returns their references in the same order. */
export async function storeChannelKeys(
  vault: Vault,
  channelId: number,
  keys: readonly string[],
): Promise<string[]> {
  const refs: string[] = []
  for (const key of keys) refs.push(await vault.putSecret('channel-key', ownerOf(channelId), key))
  return refs
}

/**
 * Returns the keys of a channel in the order of `refs`. Used to copy a channel; keys are never part
 * of a response.
 */
export async function readChannelKeys(
  vault: Vault,
  channelId: number,
  refs: readonly string[],
): Promise<string[]> {
  const keys = await readKeysByRef(vault, channelId, refs)
  return refs.flatMap((ref) => keys.get(ref) ?? [])
}

/** Returns the keys of a channel by reference, for the comparison with entered keys. */
export function readKeysByRef(
  vault: Vault,
  channelId: number,
  refs: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const owner = ownerOf(channelId)
  return vault.getSecrets(
    'channel-key',
    refs.map((ref) => ({ owner, ref })),
  )
}

export async function deleteChannelSecrets(vault: Vault, refs: Iterable<string>): Promise<void> {
  for (const ref of refs) await vault.deleteSecret(ref)
}
