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

/** Keeps a proxy with its login in the vault and answers its reference. */
export const keepProxy = (vault: Vault, channelId: number, proxy: string): Promise<string> =>
  vault.putSecret('channel-proxy', ownerOf(channelId), proxy)

/** null: it has no login, or one of before that stands in its settings; or it is gone. */
async function readProxy(
  vault: Vault,
  channelId: number,
  ref: string | undefined,
): Promise<string | null> {
  if (ref === undefined) return null
  const found = await vault.getSecrets('channel-proxy', [{ owner: ownerOf(channelId), ref }])
  return found.get(ref) ?? null
}

/** The terms as they were entered: for another channel, which gets a secret of its own. */
export async function enteredTerms(
  vault: Vault,
  channelId: number,
  { proxyRef, ...terms }: ChannelTerms,
): Promise<ChannelTerms> {
  const proxy = await readProxy(vault, channelId, proxyRef)
  return proxy === null ? terms : { ...terms, setting: settingWithProxy(terms.setting, proxy) }
}

export type SettingChange = {
  /** An empty `proxyRef`: the proxy has no login. */
  readonly terms: Pick<Partial<ChannelTerms>, 'setting' | 'proxyRef'>
  /** A proxy whose login is new, to be kept in the vault. */
  readonly proxy: string | null
  /** It is the proxy that is there, shown or not. */
  readonly isKept: boolean
}

/** What becomes of a setting as it was sent; sent as it was shown, its proxy keeps its login. */
export async function settingChange(
  vault: Vault,
  channelId: number,
  sent: string,
  before: ChannelTerms,
): Promise<SettingChange> {
  const { proxyRef } = before
  // Of a channel of before its proxy's login became a secret.
  const setting = proxyRef === undefined ? unmaskedSetting(sent, before.setting) : sent
  const isSame = proxyOf({ setting }) === proxyOf(before)
  if (isSame) return { terms: { setting, proxyRef: proxyRef ?? '' }, proxy: null, isKept: true }
  const proxy = secretProxyIn(setting)
  if (proxy === null) return { terms: { setting, proxyRef: '' }, proxy, isKept: false }
  const shown = maskedSetting(setting)
  const isKept = (await readProxy(vault, channelId, proxyRef)) === proxy
  const terms = { setting: shown, ...(isKept && proxyRef !== undefined ? { proxyRef } : {}) }
  return { terms, proxy: isKept ? null : proxy, isKept }
}
