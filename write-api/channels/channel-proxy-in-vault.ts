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
 * Reads a proxy address with its credentials. Returns null if the vault contains none, as for old
 * channels and for proxies without credentials.
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
 * Inserts the proxy's credentials into the terms, so that a copy of the channel stores them as a
 * separate secret.
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
  /** If `proxyRef` is empty, the proxy has no credentials. */
  readonly terms: Pick<Partial<ChannelTerms>, 'setting' | 'proxyRef'>
  /** The proxy address if its credentials must be stored in the vault, otherwise null. */
  readonly proxy: string | null
  /** True if the request does not change the proxy, even if it has masked credentials. */
  readonly isSameProxy: boolean
}

/**
 * Compares a request's setting with the stored setting. Masked credentials of the proxy are
 * replaced by the stored credentials.
 */
export async function settingChange(
  vault: Vault,
  channelId: number,
  sentSetting: string,
  before: ChannelTerms,
): Promise<SettingChange> {
  const { proxyRef } = before
  // In old channels, the settings contain the proxy's credentials instead of the vault.
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
