import type { Channel } from '#read-api/contract/channel.ts'
import type { CreateChannel } from '#write-api/contract/channel.ts'
import { defaultBaseUrl } from './channel-types.ts'

/** What the form holds: numbers as typed, lists as lists. */
export type ChannelDraft = {
  type: number
  name: string
  key: string
  baseUrl: string
  models: readonly string[]
  groups: readonly string[]
  organization: string
  modelPrefix: string
  modelMapping: string
  statusCodeMapping: string
  paramOverride: string
  setting: string
  priority: string
  weight: string
  autoBan: boolean
  testModel: string
  tag: string
}

export const JSON_FIELDS = [
  'modelMapping',
  'statusCodeMapping',
  'paramOverride',
  'setting',
] as const

export type ChannelFault =
  | 'nameAndKeyMissing'
  | 'keyAgain'
  | 'modelsMissing'
  | 'groupsMissing'
  | 'baseUrlMissing'
  | 'baseUrlWrong'
  | 'notJson'
  | 'notObject'
  | 'notInteger'
  | 'notNatural'
export type ChannelFaults = Partial<Record<keyof ChannelDraft, ChannelFault>>

export const newChannel: ChannelDraft = {
  type: 1,
  name: '',
  key: '',
  baseUrl: defaultBaseUrl(1),
  models: [],
  groups: ['default'],
  organization: '',
  modelPrefix: '',
  modelMapping: '',
  statusCodeMapping: '',
  paramOverride: '',
  setting: '',
  priority: '0',
  weight: '0',
  autoBan: true,
  testModel: '',
  tag: '',
}

export const draftOfChannel = (channel: Channel): ChannelDraft => ({
  type: channel.type,
  name: channel.name,
  key: '',
  baseUrl: channel.base_url,
  models: listOf(channel.models),
  groups: listOf(channel.group),
  organization: channel.openai_organization,
  modelPrefix: channel.model_prefix,
  modelMapping: channel.model_mapping,
  statusCodeMapping: channel.status_code_mapping,
  paramOverride: channel.param_override,
  setting: channel.setting,
  priority: String(channel.priority),
  weight: String(channel.weight),
  autoBan: channel.auto_ban === 1,
  testModel: channel.test_model,
  tag: channel.tag,
})

/** Takes the new type's address along, unless another one was typed. */
export function withType(draft: ChannelDraft, type: number): ChannelDraft {
  const isUntouched = draft.baseUrl === '' || draft.baseUrl === defaultBaseUrl(draft.type)
  return { ...draft, type, baseUrl: isUntouched ? defaultBaseUrl(type) : draft.baseUrl }
}

/** A key is sent to the address it was given for: another one asks for the key again. */
export const needsKeyAgain = (before: ChannelDraft, after: ChannelDraft): boolean =>
  before.type !== after.type || cleanUrl(before.baseUrl) !== cleanUrl(after.baseUrl)

export function channelFaults(draft: ChannelDraft, before: ChannelDraft | null): ChannelFaults {
  const faults: ChannelFaults = {}
  const key = draft.key.trim()
  if (draft.name.trim() === '') faults.name = 'nameAndKeyMissing'
  if (before === null && key === '') faults.key = 'nameAndKeyMissing'
  if (before !== null && key === '' && needsKeyAgain(before, draft)) faults.key = 'keyAgain'
  const urlFault = baseUrlFault(draft)
  if (urlFault !== null) faults.baseUrl = urlFault
  if (draft.models.length === 0) faults.models = 'modelsMissing'
  if (draft.groups.length === 0) faults.groups = 'groupsMissing'
  for (const field of JSON_FIELDS) {
    const fault = objectFault(draft[field])
    if (fault !== null) faults[field] = fault
  }
  if (!/^-?\d{1,9}$/.test(draft.priority.trim())) faults.priority = 'notInteger'
  if (!/^\d{1,9}$/.test(draft.weight.trim())) faults.weight = 'notNatural'
  return faults
}

/** The relay adds `/v1` itself; an address that has it already is worth a question. */
export const endsInVersion = (url: string): boolean => /\/v1$/.test(cleanUrl(url))

/** The fields as the server takes them; ask `channelFaults` first. */
export function termsOfChannel(draft: ChannelDraft): CreateChannel {
  const key = draft.key.trim()
  return {
    type: draft.type,
    name: draft.name.trim(),
    ...(key === '' ? {} : { key }),
    base_url: cleanUrl(draft.baseUrl),
    models: draft.models.join(','),
    group: draft.groups.join(','),
    openai_organization: draft.organization.trim(),
    model_prefix: draft.modelPrefix.trim(),
    model_mapping: draft.modelMapping.trim(),
    status_code_mapping: draft.statusCodeMapping.trim(),
    param_override: draft.paramOverride.trim(),
    setting: draft.setting.trim(),
    priority: Number(draft.priority),
    weight: Number(draft.weight),
    auto_ban: draft.autoBan ? 1 : 0,
    test_model: draft.testModel.trim(),
    tag: draft.tag.trim(),
  }
}

export function changedChannel(before: ChannelDraft, after: ChannelDraft): Partial<CreateChannel> {
  const old: Readonly<Record<string, unknown>> = termsOfChannel(before)
  const entries = Object.entries(termsOfChannel(after))
  return Object.fromEntries(entries.filter(([field, value]) => old[field] !== value))
}

/** Names out of a comma- or line-separated text, each once. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

const cleanUrl = (url: string): string => url.trim().replace(/\/+$/, '')

function baseUrlFault({ baseUrl }: ChannelDraft): ChannelFault | null {
  if (baseUrl.trim() === '') return 'baseUrlMissing'
  const url = URL.parse(baseUrl.trim())
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url !== null && isWeb && url.username === '' && url.search === '' ? null : 'baseUrlWrong'
}

/** JSON is judged as the spec says; that it must be an object is ours. */
export function objectFault(text: string): 'notJson' | 'notObject' | null {
  if (text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? null : 'notObject'
  } catch {
    return 'notJson'
  }
}
