import { proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import { isMasked, maskProxyPassword } from '#domain/shared/mask-proxy-credentials.ts'
import {
  checkAddress,
  checkProxy,
  TARGET_TEXTS,
} from '#infra/http/check-channel-address-and-proxy.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { profileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import type { FetchModels } from '#write-api/contract/channels.ts'
import {
  baseOf,
  type ProviderTarget,
  providerTarget,
} from '../providers/profiles/provider-target.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { type ActionDeps, currentChannel } from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { waitForCurrentViews } from './wait-until-views-are-current.ts'

/**
 * Returns the address, key and proxy to use with channel settings that an admin has not saved yet.
 * If the settings contain no key, the stored key is used. In this case, type, address and proxy
 * must equal the stored ones, because an admin who can't read keys could otherwise send a stored
 * key to another address.
 */
export async function unsavedTarget(
  deps: ActionDeps,
  fields: FetchModels,
): Promise<ProviderTarget> {
  const { type, id } = fields
  const baseUrl = normalizedAddress(fields.base_url)
  const key = (fields.key ?? '').trim().split(/\r?\n/)[0]?.trim() ?? ''
  const other = (fields.other ?? '').trim()
  const { modelsPath = null } = profileOf(type) ?? {}
  if (modelsPath === null) throw channelActionError('ModelsNotListed')
  if (key === '') {
    if (id === undefined) throw channelActionError('KeyRequired')
    return storedTarget(deps, id, { ...fields, base_url: baseUrl })
  }
  const proxy = await unsavedProxy(deps, fields)
  checkTarget(type, baseUrl, proxy, deps.policy)
  const terms = { type, baseUrl, other, setting: '', organization: '' }
  const target = providerTarget(terms, key, deps.policy, proxy)
  if (target === null) throw channelActionError('ChannelNotCallable')
  return target
}

async function storedTarget(
  deps: ActionDeps,
  id: number,
  { type, base_url, setting }: FetchModels,
): Promise<ProviderTarget> {
  const channel = await currentChannel(deps, id)
  const { terms, target, proxy } = channel
  const isSameProxy = typeof setting !== 'string' || effectiveProxy(setting, channel) === proxy
  if (type !== terms.type || base_url !== terms.baseUrl || !isSameProxy) {
    throw channelActionError('KeyRequired')
  }
  if (target === null) throw channelActionError('ChannelNotCallable')
  return target
}

/**
 * Returns the proxy in unsaved settings. The console may send the proxy of an existing channel in
 * masked form, because admins see only this form.
 */
async function unsavedProxy(
  deps: ActionDeps,
  { id, setting }: FetchModels,
): Promise<string | null> {
  if (id !== undefined) await waitForCurrentViews(deps)
  const channel = id === undefined ? undefined : deps.views.channels.find(id)
  return effectiveProxy(setting ?? '', channel)
}

/**
 * Returns the proxy in `setting`. If it is the masked form of the channel's stored proxy, returns
 * the stored proxy.
 */
function effectiveProxy(setting: string, channel: RelayChannel | undefined): string | null {
  const proxy = proxyToUse({ setting })
  if (proxy === null || channel === undefined || !isMasked(proxy)) return proxy
  const maskedProxy = proxyToUse({ setting: maskProxyPassword(channel.terms.setting) })
  return proxy === maskedProxy ? channel.proxy : proxy
}

function checkTarget(type: number, baseUrl: string, proxy: string | null, policy: OutboundPolicy) {
  const profile = profileOf(type)
  const address = profile === undefined ? null : baseOf(profile, baseUrl)
  if (address === null) throw invalidField('base_url', TARGET_TEXTS.addressRequired)
  if (!checkAddress(address, policy)) throw invalidField('base_url', TARGET_TEXTS.notUrl)
  if (proxy !== null && !checkProxy(proxy, policy)) {
    throw invalidField('setting', TARGET_TEXTS.notProxy)
  }
}

const normalizedAddress = (text: string | null | undefined): string =>
  (text ?? '').trim().replace(/\/+$/, '')
