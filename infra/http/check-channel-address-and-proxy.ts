import { isMasked, proxyAddress } from '#domain/shared/mask-proxy-credentials.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { checkUrl, type OutboundPolicy } from '../outbound/outbound-policy.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  invalidField,
  invalidFieldMessage,
  UNKNOWN_OBJECTS,
} from './http-error-class-and-catalogue.ts'

/**
 * The errors about a channel's address, in the management API and the relay. The messages do not
 * depend on the service at the address, so that they reveal nothing about a private network.
 */
export const CHANNEL_TARGET_ERRORS = {
  ChannelUnknown: [
    404,
    ({ id }) => {
      const { zh, en } = UNKNOWN_OBJECTS.channel
      return id === undefined ? { zh, en } : { zh: `${zh}（#${id}）`, en: `${en} (#${id})` }
    },
  ],
  KeyRequired: [
    200,
    {
      zh: '请填写密钥：更改渠道类型、地址或代理时必须重新填写',
      en: 'Enter the key again: a new type, address or proxy of a channel requires it',
    },
  ],
  AddressNotAllowed: [
    200,
    invalidFieldMessage('base_url', {
      zh: '不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'the address is not allowed (see PRIVATE_UPSTREAMS)',
    }),
  ],
  ProxyNotAllowed: [
    200,
    invalidFieldMessage('setting', {
      zh: '不允许使用 setting.proxy 的地址（内网地址须列入 PRIVATE_UPSTREAMS）',
      en: 'setting.proxy is not allowed (see PRIVATE_UPSTREAMS)',
    }),
  ],
} satisfies ErrorCatalogue<string>

const targetError = errorsOf(CHANNEL_TARGET_ERRORS)

/** The messages for an address or a proxy that is missing or invalid. */
export const TARGET_TEXTS = {
  addressRequired: { zh: '该类型必须填写地址', en: 'this type requires an address' },
  notUrl: { zh: '不是合法的网址', en: 'is not a valid http or https URL' },
  notProxy: {
    zh: 'setting.proxy 必须是 http:// 或 https:// 代理地址，不带路径和查询参数',
    en: 'setting.proxy must be a proxy’s http:// or https:// address without path and query',
  },
} satisfies Record<string, TranslatedText>

/**
 * Throws if the outbound policy does not allow the address of a channel. Returns false if the
 * address is not a valid one, for example because of its scheme. The host name is not resolved
 * here, because each relayed call checks the address again.
 */
export function checkAddress(address: string, policy: OutboundPolicy): boolean {
  const checked = checkUrl(address, policy)
  if (!checked.isAllowed && checked.error === 'address') throw targetError('AddressNotAllowed')
  return checked.isAllowed
}

/**
 * Throws if the outbound policy does not allow the proxy. Also throws if the credentials in `proxy`
 * are masked, unless the caller knows the real ones (`isLoginKnown`). Returns false if the text is
 * not the address of a proxy.
 */
export function checkProxy(proxy: string, policy: OutboundPolicy, isLoginKnown = false): boolean {
  if (!isLoginKnown && isMasked(proxy)) {
    throw invalidField('setting', {
      zh: '请重新填写 setting.proxy 的密码',
      en: 'enter the password of setting.proxy again',
    })
  }
  const address = proxyAddress(proxy)
  if (address === null) return false
  if (!checkUrl(address.origin, policy).isAllowed) throw targetError('ProxyNotAllowed')
  return true
}
