import { NAMED_BASES, proxyToUse } from '#domain/channel/check-terms.ts'
import type { ChannelTerms } from '#domain/channel/events.ts'
import { isMasked, proxyAddress } from '#domain/shared/proxy-address.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Words } from '#infra/http/language.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/guard.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import { channelError } from './channel-errors.ts'

/** The terms of a channel that is created with only name, key and models. */
export const DEFAULT_TERMS: ChannelTerms = {
  name: '',
  type: 1,
  baseUrl: '',
  models: [],
  groups: ['default'],
  priority: 0,
  weight: 0,
  tag: '',
  isAutoBan: true,
  testModel: '',
  organization: '',
  other: '',
  modelPrefix: '',
  maxInputTokens: 0,
  expiredTime: -1,
  maxConcurrency: 0,
  maxRpm: 0,
  modelMapping: '',
  statusCodeMapping: '',
  setting: '',
  paramOverride: '',
}

type Fields = CreateChannel | UpdateChannel

/** Returns the terms with the given fields applied. The domain validates them. */
export const termsWith = (before: ChannelTerms, fields: Fields): ChannelTerms => ({
  ...before,
  ...changeOf(fields),
})

/** Converts the given fields to terms. Texts and the cost ratio that are null become empty. */
export function changeOf(fields: Fields): Partial<ChannelTerms> {
  const { auto_ban: autoBan } = fields
  return withoutUndefined({
    name: fields.name?.trim(),
    type: fields.type,
    baseUrl: text(fields.base_url)?.replace(/\/+$/, ''),
    models: list(fields.models),
    groups: list(fields.group),
    priority: fields.priority,
    weight: fields.weight,
    tag: text(fields.tag),
    isAutoBan: autoBan === undefined ? undefined : autoBan === 1,
    testModel: text(fields.test_model),
    organization: text(fields.openai_organization),
    other: text(fields.other),
    modelPrefix: text(fields.model_prefix),
    maxInputTokens: fields.max_input_tokens,
    expiredTime: fields.expired_time,
    maxConcurrency: fields.max_concurrency,
    maxRpm: fields.max_rpm,
    modelMapping: text(fields.model_mapping),
    statusCodeMapping: text(fields.status_code_mapping),
    setting: text(fields.setting),
    paramOverride: text(fields.param_override),
    costRatio: fields.cost_ratio === undefined ? undefined : String(fields.cost_ratio ?? ''),
  })
}

type OptionalTerms = { readonly [Key in keyof ChannelTerms]: ChannelTerms[Key] | undefined }

const withoutUndefined = (terms: OptionalTerms): Partial<ChannelTerms> =>
  Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined))

export type ServedTypes = ReadonlyMap<number, ServedType>
export type ServedType = {
  /** The required fields, by wire name. */
  readonly required: readonly RequiredField[]
  /** True if the type has no default address. */
  readonly needsAddress: boolean
  /** Names that stand for one of its addresses. */
  readonly addressWords: readonly string[]
}
type RequiredField = {
  readonly key: 'other' | 'openai_organization'
  readonly label: Words
  readonly default: string
}

/**
 * Throws if no call could reach the channel: without a group or an address, or if a required field
 * of its type is empty.
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

/**
 * Throws if a new expiry (Unix seconds) is in the past at `now` (milliseconds). An unchanged one
 * may be.
 */
export function checkExpiry(time: number, before: number, now: number): void {
  if (time <= 0 || time === before || time * 1_000 > now) return
  throw invalidField('expired_time', { zh: '过期时间已过', en: 'is in the past' })
}

/** Throws if no provider serves the type. */
export function checkType(type: number, servedTypes: ServedTypes): void {
  if (servedTypes.has(type)) return
  throw invalidField('type', {
    zh: `没有支持类型 ${type} 的渠道`,
    en: `channels of type ${type} are not supported`,
  })
}

/**
 * Throws if no call could be sent to the address. It checks the text only: nothing is resolved or
 * connected, and every call checks again.
 */
export function checkAddress(baseUrl: string, upstreams: OutboundPolicy): void {
  if (baseUrl === '') return
  const checked = checkUrl(baseUrl, upstreams)
  // The domain reports all other problems.
  if (!checked.isAllowed && checked.fault === 'address') throw channelError('AddressNotAllowed')
}

/**
 * As `checkAddress`, for the proxy in the channel's extra settings. `isLoginKnown`: its credentials
 * are stored, even if it is sent masked.
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

const text = (value: string | null | undefined): string | undefined =>
  value === undefined ? undefined : (value ?? '').trim()

const list = (commas: string | undefined): readonly string[] | undefined =>
  commas === undefined ? undefined : listOf(commas)

export const listOf = (commas: string): readonly string[] => [
  ...new Set(
    commas
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
]
