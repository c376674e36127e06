import type { ChannelTerms } from '#domain/channels/events.ts'
import { NAMED_BASES, proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import { isMasked, proxyAddress } from '#domain/shared/mask-proxy-credentials.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { CHANNEL_FIELDS, CHANNEL_TERMS } from '#read-api/contract/channel-fields.ts'
import {
  initialValues,
  sentValues,
  writableFields,
} from '#read-api/contract/resource-field-definition.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import { channelError } from './channel-errors.ts'

/** The terms for fields that a request for a new channel omits. */
export const INITIAL_TERMS: ChannelTerms = { name: '', ...initialValues(CHANNEL_TERMS) }

type Fields = CreateChannel | UpdateChannel

/** Returns the terms with the given fields applied. The domain validates the terms. */
export const termsWith = (before: ChannelTerms, fields: Fields): ChannelTerms => ({
  ...before,
  ...changeOf(fields),
})

/** Converts a request's fields to terms. A `cost_ratio` of null becomes an empty text. */
export function changeOf(fields: Fields): Partial<ChannelTerms> {
  const sent = sentValues(writableFields(CHANNEL_FIELDS), fields)
  const { key: _key, keyMode: _keyMode, baseUrl, costRatio, ...terms } = sent
  return {
    ...terms,
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl.replace(/\/+$/, '') }),
    ...(costRatio === undefined ? {} : { costRatio: String(costRatio ?? '') }),
  }
}

export type ServedTypes = ReadonlyMap<number, ServedType>
export type ServedType = {
  /** The fields that must not be empty, by their names in the API. */
  readonly required: readonly RequiredField[]
  /** True if the channel type has no default address, so that each channel must have an address. */
  readonly needsAddress: boolean
  /** The keywords that an admin may enter instead of an address. */
  readonly addressWords: readonly string[]
}
type RequiredField = {
  readonly key: 'other' | 'openai_organization'
  readonly label: TranslatedText
  readonly default: string
}

/**
 * Throws if a group, a required address or another required field is missing. Throws if the address
 * is a keyword of another channel type.
 */
export function checkRequirements(
  { type, groups, baseUrl, other, organization }: ChannelTerms,
  servedTypes: ServedTypes,
): void {
  const served = servedTypes.get(type)
  if (groups.length === 0) {
    throw invalidField('group', { zh: '请至少选择一个分组', en: 'select at least one group' })
  }
  if (baseUrl === '' && served?.needsAddress === true) {
    throw invalidField('base_url', {
      zh: '该类型必须填写地址',
      en: 'this type requires an address',
    })
  }
  if (NAMED_BASES.has(baseUrl) && served?.addressWords.includes(baseUrl) === false) {
    throw invalidField('base_url', {
      zh: '该类型没有这个地址',
      en: 'is not an address of this type',
    })
  }
  const texts = { other, openai_organization: organization }
  for (const { key, label, default: preset } of served?.required ?? []) {
    if (texts[key].trim() !== '' || preset !== '') continue
    throw invalidField(key, { zh: `请填写${label.zh}`, en: `${label.en} is required` })
  }
}

/** Throws if the expiry (unix seconds) was changed to a time before `now` (unix milliseconds). */
export function checkExpiry(time: number, before: number, now: number): void {
  if (time <= 0 || time === before || time * 1_000 > now) return
  throw invalidField('expired_time', { zh: '过期时间已过', en: 'is in the past' })
}

export function checkType(type: number, servedTypes: ServedTypes): void {
  if (servedTypes.has(type)) return
  throw invalidField('type', {
    zh: `没有支持类型 ${type} 的渠道`,
    en: `channels of type ${type} are not supported`,
  })
}

/**
 * Throws if the outbound policy does not allow the address. The host name is not resolved here.
 * Each call checks the address again.
 */
export function checkAddress(baseUrl: string, upstreams: OutboundPolicy): void {
  if (baseUrl === '') return
  const checked = checkUrl(baseUrl, upstreams)
  // Other errors in the address are reported by the domain.
  if (!checked.isAllowed && checked.error === 'address') throw channelError('AddressNotAllowed')
}

/**
 * Throws if the outbound policy does not allow the proxy. Throws if the proxy's credentials are
 * masked and the real ones are not known (`isLoginKnown`).
 */
export function checkProxy(setting: string, upstreams: OutboundPolicy, isLoginKnown = false): void {
  const proxy = proxyToUse({ setting }) ?? ''
  if (!isLoginKnown && isMasked(proxy)) {
    throw invalidField('setting', {
      zh: '请重新填写 setting.proxy 的密码',
      en: 'enter the password of setting.proxy again',
    })
  }
  const address = proxyAddress(proxy)
  if (address !== null && !checkUrl(address.origin, upstreams).isAllowed) {
    throw channelError('ProxyNotAllowed')
  }
}
