import type { Vault } from '#infra/vault/port.ts'

/** Keeps a provider's key in the vault and answers its reference. It is never read out again. */
export const keepChannelKey = (vault: Vault, channelId: number, key: string): Promise<string> =>
  vault.putSecret('channel-key', `channel:${channelId}`, key)
