import { NAMED_BASES, proxyToUse } from '#domain/channel/check-terms.ts'
import type { ChannelTerms } from '#domain/channel/events.ts'
import { isMasked, proxyAddress } from '#domain/shared/proxy-address.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Words } from '#infra/http/language.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/guard.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channels.ts'
import { channelError } from './channel-errors.ts'

/** What a channel has that was created with name, key and models alone. */
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

/** The terms with the given fields applied; the others stay. The domain checks their sense. */
export const termsWith = (before: ChannelTerms, fields: Fields): ChannelTerms => ({
  ...before,
  ...changeOf(fields),
})

/** The fields that were given, as terms. Texts that are null are empty, as is a ratio. */
export function changeOf(fields: Fields): Partial<ChannelTerms> {
  const { auto_ban: autoBan } = fields
  return given({
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

type Given = { readonly [Key in keyof ChannelTerms]: ChannelTerms[Key] | undefined }

const given = (terms: Given): Partial<ChannelTerms> =>
  Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined))

export type ServedTypes = ReadonlyMap<number, ServedType>
export type ServedType = {
  /** What it can't do without, as on the wire. */
  readonly required: readonly RequiredField[]
  /** It has no address of its own. */
  readonly needsAddress: boolean
  /** Words that stand for one of its addresses. */
  readonly addressWords: readonly string[]
}
type RequiredField = {
  readonly key: 'other' | 'openai_organization'
  readonly label: Words
  readonly default: string
}

/** Refuses what no call could reach: no group or address, or a field of its type left empty. */
export function checkReach(
  { type, groups, baseUrl, other, organization }: ChannelTerms,
  served: ServedTypes,
): void {
  const kind = served.get(type)
  if (groups.length === 0) {
    throw invalidField('group', { zh: '请至少选择一个分组', en: 'choose at least one group' })
  }
  if (baseUrl === '' && kind?.needsAddress === true) {
    throw invalidField('base_url', { zh: '该类型必须填写地址', en: 'this type needs an address' })
  }
  if (NAMED_BASES.has(baseUrl) && kind?.addressWords.includes(baseUrl) === false) {
    throw invalidField('base_url', { zh: '该类型没有这个地址', en: 'is no address of this type' })
  }
  const texts = { other, openai_organization: organization }
  for (const { key, label, default: preset } of kind?.required ?? []) {
    if (texts[key].trim() !== '' || preset !== '') continue
    throw invalidField(key, { zh: `请填写${label.zh}`, en: `${label.en} is required` })
  }
}

/** Refuses a new time to expire (unix seconds) that is over at `now` (ms); one kept may be. */
export function checkExpiry(time: number, before: number, now: number): void {
  if (time <= 0 || time === before || time * 1_000 > now) return
  throw invalidField('expired_time', { zh: '过期时间已过', en: 'is in the past already' })
}

/** Refuses a type that no call could be sent by. */
export function checkType(type: number, served: ServedTypes): void {
  if (served.has(type)) return
  throw invalidField('type', {
    zh: `没有支持类型 ${type} 的渠道`,
    en: `no channel of type ${type} can be served`,
  })
}

/**
 * Refuses an address that no call could be sent to. Told from the text: nothing is resolved and
 * nothing is connected to, and every call checks again.
 */
export function checkAddress(baseUrl: string, upstreams: OutboundPolicy): void {
  if (baseUrl === '') return
  const checked = checkUrl(baseUrl, upstreams)
  // The other faults are the domain's to name.
  if (!checked.isAllowed && checked.fault === 'address') throw channelError('AddressNotAllowed')
}

/**
 * As `checkAddress`, of the proxy that the channel's extra settings name. `isKept`: its login is
 * known, though it is sent as it was shown.
 */
export function checkProxy(setting: string, upstreams: OutboundPolicy, isKept = false): void {
  const proxy = proxyToUse({ setting }) ?? ''
  if (!isKept && isMasked(proxy)) {
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
