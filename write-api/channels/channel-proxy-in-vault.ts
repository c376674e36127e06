import type { ChannelTerms } from '#domain/channels/events.ts'
import { proxyOf } from '#domain/channels/validate-channel-fields.ts'
import {
  maskedSetting,
  secretProxyIn,
  settingWithProxy,
  unmaskedSetting,
} from '#domain/shared/mask-proxy-credentials.ts'
import type { Vault } from '#infra/vault/port.ts'
import { ownerOf } from './channel-keys-in-vault.ts'

/** Stores a proxy address with its credentials. Returns the vault reference. */
export const storeProxy = (vault: Vault, channelId: number, proxy: string): Promise<string> =>
  vault.putSecret('channel-proxy', ownerOf(channelId), proxy)

/**
 * Reads a proxy address with its credentials. Returns null if the proxy has no credentials. Also
 * returns null for old channels, because the vault does not contain their credentials.
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
 * Returns a channel's terms with the proxy's credentials in `setting`. These are the terms for a
 * copy of the channel. The copy stores the credentials as its own secret.
 */
export async function termsWithProxyLogin(
  vault: Vault,
  channelId: number,
  { proxyRef, ...terms }: ChannelTerms,
): Promise<ChannelTerms> {
  const proxy = await readProxy(vault, channelId, proxyRef)
  return proxy === null ? terms : { ...terms, setting: settingWithProxy(terms.setting, proxy) }
}

export type SettingChange = {
  /** An empty `proxyRef` means that the vault contains no credentials of the proxy. */
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
  // In old channels, the setting itself contains the proxy's credentials. The vault contains none.
  const setting =
    proxyRef === undefined ? unmaskedSetting(sentSetting, before.setting) : sentSetting
  const isSame = proxyOf({ setting }) === proxyOf(before)
  if (isSame)
    return { terms: { setting, proxyRef: proxyRef ?? '' }, proxy: null, isSameProxy: true }
  const proxy = secretProxyIn(setting)
  if (proxy === null) return { terms: { setting, proxyRef: '' }, proxy, isSameProxy: false }
  const masked = maskedSetting(setting)
  const isSameProxy = (await readProxy(vault, channelId, proxyRef)) === proxy
  const terms = { setting: masked, ...(isSameProxy && proxyRef !== undefined ? { proxyRef } : {}) }
  return { terms, proxy: isSameProxy ? null : proxy, isSameProxy }
}
