import type { TFunction } from 'i18next'
import type { Tone } from '#console/ui/elements/status-tag.tsx'
import { reasonText } from '#console/ui/messages/reason-text.ts'
import type { TimelineEntry } from '#read-api/contract/channel-timeline.ts'
import { durationText } from './format-durations-and-rates.ts'

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
  const shownReason = reason === '' ? '' : reasonText(t, reason)
  const scope = scopeText(t, entry)
  const parts: Record<Kind, readonly string[]> = {
    created: entry.is_enabled === false ? [t('health.entry.createdDisabled')] : [],
    'terms-changed': [fieldsText(t, fields)],
    enabled: [tagText(t, tag)],
    disabled: [tagText(t, tag)],
    'auto-disabled': [shownReason],
    expired: [],
    deleted: [],
    tagged: [tag ?? ''],
    'tag-changed': [tagText(t, tag), fieldsText(t, fields)],
    'key-set-aside': [scope, shownReason],
    'keys-taken-back': [t('health.entry.keys', { count: count ?? 0 })],
    'circuit-opened': [scope, shownReason, t('health.entry.failures', { count: count ?? 0 })],
    'circuit-half-opened': [scope],
    'circuit-closed': [scope, t(`health.entry.${CLOSED_BY[reason] ?? 'byCall'}`)],
    tested: [
      model ?? '',
      is_success === true ? '' : shownReason,
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
 * Returns the name of a channel's key: the number of the key, starting at 1. `key` is the index of
 * the key, or null if the key was removed from the channel.
 */
const keyText = (t: TFunction, key: number | null): string =>
  key === null ? t('health.formerKey') : t('health.key', { key: key + 1 })

const tagText = (t: TFunction, tag: string | undefined): string =>
  tag === undefined ? '' : t('health.entry.ofTag', { tag })

/**
 * Entries of a channel's timeline that are shown together: a single entry, or several entries of
 * one circuit breaker, newest first. A circuit breaker stops calls to a failing channel, model or
 * key for some time.
 */
export type EntryGroup = readonly [TimelineEntry, ...TimelineEntry[]]

/**
 * Groups entries of the same circuit breaker. Entries before and after a user's action or a change
 * of the channel are never in the same group, because the action or change may explain the entries
 * that follow it in time. An automatic test does not separate groups.
 */
export function groupEntries(entries: readonly TimelineEntry[]): readonly EntryGroup[] {
  const groups: [TimelineEntry, ...TimelineEntry[]][] = []
  const runs = new Map<string, [TimelineEntry, ...TimelineEntry[]]>()
  for (const entry of entries) {
    const circuit = circuitOf(entry)
    const run = circuit === null ? undefined : runs.get(circuit)
    if (run !== undefined) {
      run.push(entry)
      continue
    }
    const group: [TimelineEntry, ...TimelineEntry[]] = [entry]
    groups.push(group)
    if (circuit !== null) runs.set(circuit, group)
    else if (entry.by !== null || entry.kind !== 'tested') runs.clear()
  }
  return groups
}

/**
 * Returns a text that identifies the circuit breaker of an entry within its channel. Returns null
 * for an entry without a circuit breaker, such as a user's action.
 */
function circuitOf({ kind, by, model, key }: TimelineEntry): string | null {
  if (!kind.startsWith('circuit-') || by !== null) return null
  return JSON.stringify([model ?? null, key === undefined ? 'all' : key])
}

type GroupSummary = {
  readonly newest: TimelineEntry
  readonly oldest: TimelineEntry
  readonly openings: number
}

export function summaryOf(group: EntryGroup): GroupSummary {
  const [newest] = group
  return {
    newest,
    oldest: group.at(-1) ?? newest,
    openings: group.filter(({ kind }) => kind === 'circuit-opened').length,
  }
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Formats a duration in its largest unit, such as `12 min` or `3 hr`. */
export function spanText(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1_000))
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1]
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 } as const
  return new Intl.NumberFormat(locale, format).format(Math.round(seconds / size))
}
