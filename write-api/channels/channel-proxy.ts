import type { ChannelTerms } from '#domain/channel/events.ts'
import { proxyOf } from '#domain/channel/validate-channel-fields.ts'
import {
  maskedSetting,
  secretProxyIn,
  settingWithProxy,
  unmaskedSetting,
} from '#domain/shared/proxy-address.ts'
import type { Vault } from '#infra/vault/port.ts'
import { ownerOf } from './channel-keys-in-vault.ts'

/** Stores a proxy address with its credentials in the vault and returns its reference. */
export const storeProxy = (vault: Vault, channelId: number, proxy: string): Promise<string> =>
  vault.putSecret('channel-proxy', ownerOf(channelId), proxy)

/**
 * Reads a channel's proxy address with credentials from the vault. Returns null when the proxy has
 * no credentials, when an old channel has its credentials in its settings, or when the secret is
 * missing.
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
 * Returns the terms with the credentials restored in the proxy address. A copy of the channel is
 * created with these terms and stores the credentials as a separate secret.
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
  /** The changed terms. An empty `proxyRef` means that the proxy has no credentials. */
  readonly terms: Pick<Partial<ChannelTerms>, 'setting' | 'proxyRef'>
  /**
   * A proxy address with new credentials that must be stored in the vault; null when there are no
   * new credentials.
   */
  readonly proxy: string | null
  /** True when the proxy is unchanged, even if the request sent it with masked credentials. */
  readonly isSameProxy: boolean
}

/**
 * Compares the setting of a request with the stored setting. A proxy with masked credentials keeps
 * the stored credentials.
 */
export async function settingChange(
  vault: Vault,
  channelId: number,
  sentSetting: string,
  before: ChannelTerms,
): Promise<SettingChange> {
  const { proxyRef } = before
  // Old channels have the proxy's credentials in their settings instead of the vault.
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
