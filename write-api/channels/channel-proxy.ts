import { proxyOf } from '#domain/channel/check-terms.ts'
import type { ChannelTerms } from '#domain/channel/events.ts'
import {
  maskedSetting,
  secretProxyIn,
  settingWithProxy,
  unmaskedSetting,
} from '#domain/shared/proxy-address.ts'
import type { Vault } from '#infra/vault/port.ts'
import { ownerOf } from './channel-key.ts'

/** Stores a proxy address with its credentials in the vault and returns its reference. */
export const storeProxy = (vault: Vault, channelId: number, proxy: string): Promise<string> =>
  vault.putSecret('channel-proxy', ownerOf(channelId), proxy)

/**
 * Returns null if the proxy has no credentials, if they are an old channel's and stand in its
 * settings, or if the secret is gone.
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
 * Returns the terms with the proxy's credentials restored, to create another channel with a
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
  /** An empty `proxyRef` means that the proxy has no credentials. */
  readonly terms: Pick<Partial<ChannelTerms>, 'setting' | 'proxyRef'>
  /** A proxy address with new credentials, to be stored in the vault. */
  readonly proxy: string | null
  /** True if the proxy did not change, whether it was sent masked or not. */
  readonly isSameProxy: boolean
}

/** Resolves a setting that was sent: a masked proxy keeps its credentials. */
export async function settingChange(
  vault: Vault,
  channelId: number,
  sentSetting: string,
  before: ChannelTerms,
): Promise<SettingChange> {
  const { proxyRef } = before
  // For channels from the time before proxy credentials became secrets.
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
