import type { ChannelTerms } from '#domain/channels/events.ts'
import { proxyOf } from '#domain/channels/validate-channel-fields.ts'
import {
  maskProxyPassword,
  proxyWithCredentials,
  restoreMaskedProxy,
  settingWithProxy,
} from '#domain/shared/mask-proxy-credentials.ts'
import type { Vault } from '#infra/vault/port.ts'
import { ownerOf } from './channel-keys-in-vault.ts'

/** Stores a proxy address with its credentials. Returns the vault reference. */
export const storeProxy = (vault: Vault, channelId: number, proxy: string): Promise<string> =>
  vault.putSecret('channel-proxy', ownerOf(channelId), proxy)

/**
 * Returns the address of a channel's proxy with its credentials. Returns null if the vault does not
 * contain this address, because the proxy needs no credentials, or because an old release stored
 * the credentials in the channel's `setting`.
 */
async function readProxy(
  vault: Vault,
  channelId: number,
  ref: string | undefined,
): Promise<string | null> {
  if (ref === undefined) return null
  const found = await vault.getSecrets('channel-proxy', [{ owner: ownerOf(channelId), ref }])
  return found.get(ref) ?? null
}

/**
 * Returns the terms (settings) of a channel that is to be copied, with the credentials of the proxy
 * in `setting`. The copy stores the credentials as a separate secret.
 */
export async function termsWithProxyCredentials(
  vault: Vault,
  channelId: number,
  { proxyRef, ...terms }: ChannelTerms,
): Promise<ChannelTerms> {
  const proxy = await readProxy(vault, channelId, proxyRef)
  return proxy === null ? terms : { ...terms, setting: settingWithProxy(terms.setting, proxy) }
}

export type SettingChange = {
  /**
   * The change of the channel's terms. An empty `proxyRef` means that the vault contains no
   * credentials of the proxy.
   */
  readonly terms: Pick<Partial<ChannelTerms>, 'setting' | 'proxyRef'>
  /**
   * The proxy address with credentials to store in the vault, or null if nothing must be stored.
   */
  readonly proxy: string | null
  /**
   * True if the requested proxy is the stored proxy. Masked credentials count as the stored
   * credentials.
   */
  readonly isSameProxy: boolean
}

/**
 * Compares the requested setting with the stored setting. If the request contains masked proxy
 * credentials, the stored credentials are kept.
 */
export async function settingChange(
  vault: Vault,
  channelId: number,
  sentSetting: string,
  before: ChannelTerms,
): Promise<SettingChange> {
  const { proxyRef } = before
  // A channel that an old release created has the credentials of the proxy in the setting itself.
  // In this case, the vault contains no credentials.
  const setting =
    proxyRef === undefined ? restoreMaskedProxy(sentSetting, before.setting) : sentSetting
  const isSame = proxyOf({ setting }) === proxyOf(before)
  if (isSame)
    return { terms: { setting, proxyRef: proxyRef ?? '' }, proxy: null, isSameProxy: true }
  const proxy = proxyWithCredentials(setting)
  if (proxy === null) return { terms: { setting, proxyRef: '' }, proxy, isSameProxy: false }
  const masked = maskProxyPassword(setting)
  const isSameProxy = (await readProxy(vault, channelId, proxyRef)) === proxy
  const terms = { setting: masked, ...(isSameProxy && proxyRef !== undefined ? { proxyRef } : {}) }
  return { terms, proxy: isSameProxy ? null : proxy, isSameProxy }
}
