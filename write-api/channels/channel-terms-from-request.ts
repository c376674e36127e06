import type { ChannelTerms } from '#domain/channels/events.ts'
import { NAMED_BASES, proxyToUse } from '#domain/channels/validate-channel-fields.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { checkProxy, TARGET_TEXTS } from '#infra/http/check-channel-address-and-proxy.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { CHANNEL_FIELDS, CHANNEL_TERMS } from '#read-api/contract/channel-fields.ts'
import {
  initialValues,
  sentValues,
  writableFields,
} from '#read-api/contract/resource-field-definition.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'

/** The terms (settings) of a new channel for the fields that a request omits. */
export const INITIAL_TERMS: ChannelTerms = { name: '', ...initialValues(CHANNEL_TERMS) }

type Fields = CreateChannel | UpdateChannel

/**
 * Returns the terms `before` with the fields of a request applied. The domain validates the result
 * later.
 */
export const termsWith = (before: ChannelTerms, fields: Fields): ChannelTerms => ({
  ...before,
  ...changeOf(fields),
})

/**
 * Converts the fields of a request to terms (settings of a channel). A `cost_ratio` of null becomes
 * an empty text, and slashes at the end of `base_url` are removed.
 */
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
  /** The fields of a channel that must not be empty for this type. */
  readonly required: readonly RequiredField[]
  /**
   * True if the channel type has no default address. A channel of this type must have an address.
   */
  readonly needsAddress: boolean
  /** The keywords that an admin may enter instead of an address. */
  readonly addressWords: readonly string[]
  readonly keyHint: TranslatedText
  /** Reports whether a key has the right format for a channel with this base URL. */
  readonly acceptsKey: (key: string, baseUrl: string) => boolean
}
type RequiredField = {
  readonly key: 'other' | 'openai_organization'
  readonly label: TranslatedText
  readonly default: string
}

/**
 * Throws if a group, a required address or another required field is missing. A required field with
 * a default may be missing. Throws if the address is a keyword of another channel type.
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
    throw invalidField('base_url', TARGET_TEXTS.addressRequired)
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

/** Throws if a key does not have the format that the channel type requires. */
export function checkKeys(
  { type, baseUrl }: Pick<ChannelTerms, 'type' | 'baseUrl'>,
  keys: readonly string[],
  servedTypes: ServedTypes,
): void {
  const served = servedTypes.get(type)
  if (served === undefined || keys.every((key) => served.acceptsKey(key, baseUrl))) return
  const { zh, en } = served.keyHint
  throw invalidField('key', {
    zh: `格式不对，应为：${zh}`,
    en: `has the wrong form. Expected: ${en}`,
  })
}

/**
 * Throws if a request changes the expiry time from `before` to a `time` that is not after `now`.
 * `time` and `before` are in Unix seconds, and `now` is in Unix milliseconds. A `time` of 0 or less
 * means no expiry.
 */
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
 * Throws if the outbound policy does not allow the proxy in `setting`. Throws if the proxy's
 * credentials are masked, unless the real credentials are known (`isLoginKnown`). Returns false if
 * `setting` has no proxy, or if the address of the proxy is invalid. The domain rejects an invalid
 * address.
 */
export const checkProxyIn = (
  setting: string,
  upstreams: OutboundPolicy,
  isLoginKnown = false,
): boolean => checkProxy(proxyToUse({ setting }) ?? '', upstreams, isLoginKnown)
