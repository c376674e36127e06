import { dateFieldText } from '#console/ui/forms/date-field.ts'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { ChannelType } from '#read-api/contract/channel-types.ts'
import type { Channel } from '#read-api/contract/channels.ts'

/** How the form uses the entered keys. `replace` and `append` exist only for stored channels. */
export type KeyMode = 'single' | 'batch' | 'multi_to_single' | 'replace' | 'append'

/** A field that only some channel types have. */
export type OwnField = ChannelType['fields'][number]['key']

export type ChannelDraft = Readonly<Record<OwnField, string>> & {
  type: number
  name: string
  baseUrl: string
  key: string
  keyMode: KeyMode
  multiKeyMode: 'random' | 'polling'
  /** The indexes of the disabled keys that saving the form enables. */
  enableKeys: readonly number[]
  models: readonly string[]
  groups: readonly string[]
  modelPrefix: string
  modelMapping: string
  testModel: string
  tag: string
  priority: string
  weight: string
  autoBan: boolean
  maxConcurrency: string
  maxRpm: string
  maxInputTokens: string
  /** The cost ratio as entered in the form. Empty if the ratio is unknown. */
  costRatio: string
  /** The value of a date-time field; empty means that the channel does not expire. */
  expiresAt: string
  statusCodeMapping: string
  paramOverride: string
  setting: string
}

export const JSON_FIELDS = [
  'modelMapping',
  'statusCodeMapping',
  'paramOverride',
  'setting',
] as const
export const NUMBER_FIELDS = ['weight', 'maxConcurrency', 'maxRpm', 'maxInputTokens'] as const

/** Returns the form values of a new channel, with the type's default values and address. */
export const newChannel = (type: ChannelType | undefined): ChannelDraft => ({
  type: type?.id ?? 1,
  name: '',
  baseUrl: type?.base_url ?? '',
  other: '',
  openai_organization: '',
  key: '',
  keyMode: 'single',
  multiKeyMode: 'random',
  enableKeys: [],
  models: [],
  groups: ['default'],
  modelPrefix: '',
  modelMapping: '',
  testModel: '',
  tag: '',
  priority: '0',
  weight: '0',
  autoBan: true,
  maxConcurrency: '0',
  maxRpm: '0',
  maxInputTokens: '0',
  costRatio: '',
  expiresAt: '',
  statusCodeMapping: '',
  paramOverride: '',
  setting: '',
})

export const draftOfChannel = (channel: Channel): ChannelDraft => ({
  type: channel.type,
  name: channel.name,
  baseUrl: channel.base_url,
  other: channel.other,
  openai_organization: channel.openai_organization,
  key: '',
  keyMode: channel.multi_key_mode === '' ? 'replace' : 'append',
  multiKeyMode: channel.multi_key_mode || 'random',
  enableKeys: [],
  models: listOf(channel.models),
  groups: listOf(channel.group),
  modelPrefix: channel.model_prefix,
  modelMapping: channel.model_mapping,
  testModel: channel.test_model,
  tag: channel.tag,
  priority: String(channel.priority),
  weight: String(channel.weight),
  autoBan: channel.auto_ban === 1,
  maxConcurrency: String(channel.max_concurrency),
  maxRpm: String(channel.max_rpm),
  maxInputTokens: String(channel.max_input_tokens),
  costRatio: channel.cost_ratio === null ? '' : String(channel.cost_ratio),
  expiresAt: dateFieldText(channel.expired_time),
  statusCodeMapping: channel.status_code_mapping,
  paramOverride: channel.param_override,
  setting: channel.setting,
})

/** Changes the type. Sets the new type's default address unless the user has edited it. */
export function withType(
  draft: ChannelDraft,
  before: ChannelType | undefined,
  after: ChannelType,
): ChannelDraft {
  const isUntouched = draft.baseUrl === '' || draft.baseUrl === before?.base_url
  return { ...draft, type: after.id, baseUrl: isUntouched ? after.base_url : draft.baseUrl }
}

/** Splits a text at commas and line breaks into names without duplicates. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

export type ChannelFormProps = {
  form: DraftForm<ChannelDraft>
  /** The values stored on the server; null for a new channel. */
  stored: ChannelDraft | null
  channel: Channel | null
  /** The server's description of the selected channel type; undefined if it is not supported. */
  type: ChannelType | undefined
}
