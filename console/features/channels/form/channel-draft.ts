import { parseObject } from '#console/api/parse-json-object.ts'
import { dateFieldText } from '#console/ui/forms/date-field-text.ts'
import { type DraftOf, draftOf, newDraft } from '#console/ui/forms/resource-draft.ts'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import { CHANNEL_TERMS } from '#read-api/contract/channel-fields.ts'
import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import type { Channel } from '#read-api/contract/channels.ts'

/**
 * Determines how the entered keys are stored. A new channel has three modes: `single` stores one
 * key, `batch` creates one channel for each key, and `multi_to_single` creates one channel with all
 * keys. For an existing channel, `replace` removes the stored keys, and `append` keeps them.
 */
export type KeyMode = 'single' | 'batch' | 'multi_to_single' | 'replace' | 'append'

type TypeField = ChannelType['fields'][number]['key']

const { type: _type, expiredTime: _expiry, organization: _organization, ...rest } = CHANNEL_TERMS
export const FORM_FIELDS = rest

export type ChannelDraft = DraftOf<typeof FORM_FIELDS> &
  Readonly<Record<TypeField, string>> & {
    type: number
    name: string
    key: string
    keyMode: KeyMode
    multiKeyMode: Exclude<Channel['multi_key_mode'], ''>
    keyIndexesToEnable: readonly number[]
    /**
     * The cost ratio: the price of the provider as a multiple of the list price, such as 0.6. The
     * costs of calls are estimated from this ratio. An empty text means that the ratio is unknown.
     */
    costRatio: string
    /**
     * The time at which the channel expires. An empty text means that the channel does not expire.
     */
    expiresAt: string
  }

export const JSON_FIELDS = [
  'modelMapping',
  'statusCodeMapping',
  'paramOverride',
  'setting',
] as const
export const NUMBER_FIELDS = ['weight', 'maxConcurrency', 'maxRpm', 'maxInputTokens'] as const

export const newChannel = (type: ChannelType | undefined): ChannelDraft => ({
  ...newDraft(FORM_FIELDS),
  type: type?.id ?? 1,
  name: '',
  baseUrl: type?.base_url ?? '',
  openai_organization: '',
  key: '',
  keyMode: 'single',
  multiKeyMode: 'random',
  keyIndexesToEnable: [],
  costRatio: '',
  expiresAt: '',
})

export const draftOfChannel = (channel: Channel): ChannelDraft => ({
  ...draftOf(FORM_FIELDS, channel),
  type: channel.type,
  name: channel.name,
  openai_organization: channel.openai_organization,
  key: '',
  keyMode: channel.multi_key_mode === '' ? 'replace' : 'append',
  multiKeyMode: channel.multi_key_mode || 'random',
  keyIndexesToEnable: [],
  costRatio: channel.cost_ratio === null ? '' : String(channel.cost_ratio),
  expiresAt: dateFieldText(channel.expired_time),
})

/**
 * Returns the draft with another channel type. If the provider's address is empty or is the default
 * address of the old type, it becomes the default address of the new type.
 */
export function changeType(
  draft: ChannelDraft,
  before: ChannelType | undefined,
  after: ChannelType,
): ChannelDraft {
  const isUntouched = draft.baseUrl === '' || draft.baseUrl === before?.base_url
  return { ...draft, type: after.id, baseUrl: isUntouched ? after.base_url : draft.baseUrl }
}

export const parseNames = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
]

export type ChannelFormProps = {
  form: DraftForm<ChannelDraft>
  stored: ChannelDraft | null
  channel: Channel | null
  /** The type of the channel, or undefined if it is no longer supported. */
  type: ChannelType | undefined
}

export const keysOf = ({ key }: ChannelDraft): string[] => [
  ...new Set(
    key
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]

/**
 * Reports whether the admin must enter the provider's key again. This is the case after a change of
 * the type, the address or the proxy of the channel. Otherwise, the stored key could be sent to
 * another server.
 */
export const needsKeyReentry = (before: ChannelDraft, after: ChannelDraft): boolean =>
  before.type !== after.type ||
  cleanUrl(before.baseUrl) !== cleanUrl(after.baseUrl) ||
  proxyOf(before.setting) !== proxyOf(after.setting)

export const cleanUrl = (url: string): string => url.trim().replace(/\/+$/, '')

function proxyOf(setting: string): string {
  const proxy = parseObject(setting)?.proxy
  return typeof proxy === 'string' ? proxy.trim() : ''
}
