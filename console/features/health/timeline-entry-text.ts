import type { TFunction } from 'i18next'
import type { Tone } from '#console/ui/elements/status-tag.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'
import { durationText } from './metric-text.ts'

type Kind = TimelineEntry['kind']

const TONE: Partial<Record<Kind, Tone>> = {
  enabled: 'good',
  disabled: 'neutral',
  'auto-disabled': 'bad',
  expired: 'bad',
  deleted: 'bad',
  'key-set-aside': 'warn',
  'keys-taken-back': 'good',
  'circuit-opened': 'bad',
  'circuit-half-opened': 'warn',
  'circuit-closed': 'good',
}

const CLOSED_BY: Record<string, 'byTest' | 'byChange' | 'byHand'> = {
  test: 'byTest',
  change: 'byChange',
  admin: 'byHand',
}

export function entryTone({ kind, is_success }: TimelineEntry): Tone {
  if (kind === 'tested') return is_success === true ? 'good' : 'bad'
  return TONE[kind] ?? 'info'
}

export function entryDetail(t: TFunction, entry: TimelineEntry, number: Intl.NumberFormat): string {
  const { kind, reason = '', model, fields, tag, count, duration_ms: took, is_success } = entry
  const why = reason === '' ? '' : reasonText(t, reason)
  const scope = scopeText(t, entry)
  const parts: Record<Kind, readonly string[]> = {
    created: entry.is_enabled === false ? [t('health.entry.createdDisabled')] : [],
    'terms-changed': [fieldsText(t, fields)],
    enabled: [tagText(t, tag)],
    disabled: [tagText(t, tag)],
    'auto-disabled': [why],
    expired: [],
    deleted: [],
    tagged: [tag ?? ''],
    'tag-changed': [tagText(t, tag), fieldsText(t, fields)],
    'key-set-aside': [scope, why],
    'keys-taken-back': [t('health.entry.keys', { count: count ?? 0 })],
    'circuit-opened': [scope, why, t('health.entry.failures', { count: count ?? 0 })],
    'circuit-half-opened': [scope],
    'circuit-closed': [scope, t(`health.entry.${CLOSED_BY[reason] ?? 'byCall'}`)],
    tested: [
      model ?? '',
      is_success === true ? '' : why,
      took === undefined ? '' : durationText(took, number),
    ],
  }
  return parts[kind].filter((part) => part !== '').join(' · ')
}

export const scopeText = (t: TFunction, { key, model }: TimelineEntry): string =>
  key === undefined ? (model ?? '') : keyText(t, key)

const fieldsText = (t: TFunction, fields: readonly string[] = []): string =>
  fields
    .map((field) => (isField(field) ? t(FIELD_KEYS[field]) : field))
    .join(t('health.listSeparator'))

const isField = (field: string): field is keyof typeof FIELD_KEYS =>
  Object.hasOwn(FIELD_KEYS, field)

const FIELD_KEYS = {
  name: 'shared.name',
  type: 'shared.type',
  base_url: 'shared.baseUrl',
  models: 'shared.models',
  group: 'channels.groups',
  priority: 'channelForm.priority',
  weight: 'channelForm.weight',
  tag: 'channels.tag',
  auto_ban: 'channelForm.autoBan',
  test_model: 'channelForm.testModel',
  openai_organization: 'health.typeField',
  other: 'health.typeField',
  model_prefix: 'channelForm.modelPrefix',
  max_input_tokens: 'channelForm.maxInputTokens',
  expired_time: 'shared.expires',
  max_concurrency: 'channelForm.maxConcurrency',
  max_rpm: 'channelForm.maxRpm',
  model_mapping: 'channelForm.modelMapping',
  status_code_mapping: 'channelForm.statusCodeMapping',
  setting: 'channelForm.setting',
  param_override: 'channelForm.paramOverride',
  cost_ratio: 'channelForm.costRatio',
} as const

/**
 * Returns the name of a key of a channel, which is its number, starting at 1. `key` is the index of
 * the key, or null if the key was removed from the channel.
 */
const keyText = (t: TFunction, key: number | null): string =>
  key === null ? t('health.formerKey') : t('health.key', { key: key + 1 })

const tagText = (t: TFunction, tag: string | undefined): string =>
  tag === undefined ? '' : t('health.entry.ofTag', { tag })
