import type { ChannelTerms } from '#domain/channel/events.ts'
import { invalidField } from '#infra/http/faults.ts'
import { checkUrl, type OutboundPolicy } from '#infra/outbound/guard.ts'
import type { CreateChannel, UpdateChannel } from '#write-api/contract/channel.ts'
import { refused } from '../refusals.ts'

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
  modelMapping: '',
  statusCodeMapping: '',
  setting: '',
  paramOverride: '',
}

type Fields = CreateChannel | UpdateChannel

/** The terms with the given fields applied; the others stay. The domain checks their sense. */
export function termsWith(before: ChannelTerms, fields: Fields): ChannelTerms {
  return {
    name: fields.name === undefined ? before.name : fields.name.trim(),
    type: fields.type ?? before.type,
    baseUrl: text(fields.base_url, before.baseUrl).replace(/\/+$/, ''),
    models: fields.models === undefined ? before.models : listOf(fields.models),
    groups: fields.group === undefined ? before.groups : listOf(fields.group),
    priority: fields.priority ?? before.priority,
    weight: fields.weight ?? before.weight,
    tag: text(fields.tag, before.tag),
    isAutoBan: fields.auto_ban === undefined ? before.isAutoBan : fields.auto_ban === 1,
    testModel: text(fields.test_model, before.testModel),
    organization: text(fields.openai_organization, before.organization),
    other: text(fields.other, before.other),
    modelPrefix: text(fields.model_prefix, before.modelPrefix),
    maxInputTokens: fields.max_input_tokens ?? before.maxInputTokens,
    expiredTime: fields.expired_time ?? before.expiredTime,
    modelMapping: text(fields.model_mapping, before.modelMapping),
    statusCodeMapping: text(fields.status_code_mapping, before.statusCodeMapping),
    setting: text(fields.setting, before.setting),
    paramOverride: text(fields.param_override, before.paramOverride),
  }
}

/**
 * Refuses an address that no call could be sent to. Told from the text: nothing is resolved and
 * nothing is connected to, and every call checks again.
 */
export function checkAddress(baseUrl: string, upstreams: OutboundPolicy): void {
  if (baseUrl === '') return
  const checked = checkUrl(baseUrl, upstreams)
  // The other faults are the domain's to name.
  if (!checked.isAllowed && checked.fault === 'address') throw refused('AddressNotAllowed')
}

/** The key given, or null: a row that was read has an empty one. Throws for more than one. */
export function keyOf({ key = '' }: Fields): string | null {
  const keys = key
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (keys.length > 1) {
    throw invalidField('key', { zh: '每个渠道只能填写一个密钥', en: 'must be one key' })
  }
  return keys[0] ?? null
}

/** Left out: as before. null: empty. */
const text = (given: string | null | undefined, before: string): string =>
  given === undefined ? before : (given ?? '').trim()

const listOf = (commas: string): readonly string[] => [
  ...new Set(
    commas
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
]
