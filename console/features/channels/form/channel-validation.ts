import type { Translations } from '#console/i18n/translation-types.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import type { ChannelType } from '#read-api/contract/channel-types.ts'
import { type ChannelDraft, JSON_FIELDS, NUMBER_FIELDS } from './channel-draft.ts'
import { keysOf, needsKeyAgain } from './channel-keys.ts'
import { jsonFault, objectFault } from './json-validation.ts'

export type ChannelFault = keyof Translations['channelForm']['error']

export type ChannelFaults = FieldErrors<ChannelDraft, ChannelFault>

/**
 * Returns the errors of the channel form by field. `before` contains the stored channel's values,
 * and is null for a new channel.
 */
export function channelFaults(
  draft: ChannelDraft,
  before: ChannelDraft | null,
  type: ChannelType | undefined,
): ChannelFaults {
  const faults: ChannelFaults = { ...ownFaults(draft, type) }
  const set = (field: keyof ChannelFaults, fault: ChannelFault | null) => {
    if (fault !== null) faults[field] = fault
  }
  set('name', draft.name.trim() === '' ? 'nameAndKeyMissing' : null)
  set('key', keyFault(draft, before))
  set('baseUrl', baseUrlFault(draft, type))
  set('models', draft.models.length === 0 ? 'modelsMissing' : null)
  set('groups', draft.groups.length === 0 ? 'groupsMissing' : null)
  for (const field of JSON_FIELDS) set(field, jsonFault(field, draft[field]))
  set('priority', isInteger(draft.priority) ? null : 'notInteger')
  for (const field of NUMBER_FIELDS) set(field, isNatural(draft[field]) ? null : 'notNatural')
  set('costRatio', isCostRatio(draft.costRatio) ? null : 'notCostRatio')
  set('expiresAt', expiryFault(draft.expiresAt, before?.expiresAt))
  return faults
}

export const isInteger = (text: string): boolean => /^-?\d{1,9}$/.test(text.trim())
export const isNatural = (text: string): boolean => /^\d{1,9}$/.test(text.trim())

/**
 * Returns true for a valid cost ratio by the server's rules. An empty text means an unknown ratio.
 */
const isCostRatio = (text: string): boolean =>
  /^(?:\d{1,4}(?:\.\d{1,6})?)?$/.test(text.trim()) && Number(text) <= 1_000

function keyFault(draft: ChannelDraft, before: ChannelDraft | null): ChannelFault | null {
  if (keysOf(draft).length > 0) return null
  if (before === null) return 'nameAndKeyMissing'
  return needsKeyAgain(before, draft) ? 'keyMissing' : null
}

/** Checks the expiry. Only an expiry that equals the stored expiry `before` may be in the past. */
function expiryFault(text: string, before: string | undefined): ChannelFault | null {
  const seconds = secondsOfDateField(text, 0)
  if (seconds === null) return 'dateInvalid'
  const isPast = seconds > 0 && seconds * 1_000 <= Date.now()
  return isPast && text !== before ? 'datePast' : null
}

function baseUrlFault(draft: ChannelDraft, type: ChannelType | undefined): ChannelFault | null {
  const text = draft.baseUrl.trim()
  if (text === '') return type?.base_url === '' ? 'baseUrlMissing' : null
  if (type?.bases.some(({ keyword }) => keyword === text)) return null
  const url = URL.parse(text)
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url !== null && isWeb && url.username === '' && url.search === '' ? null : 'baseUrlInvalid'
}

function ownFaults(draft: ChannelDraft, type: ChannelType | undefined): ChannelFaults {
  const faults: ChannelFaults = {}
  for (const { key, kind, is_required: isRequired, default: preset } of type?.fields ?? []) {
    const text = draft[key].trim()
    if (text === '' && isRequired && preset === '') faults[key] = 'fieldMissing'
    if (kind === 'json' && /^[[{]/.test(text) && objectFault(text) === 'notJson') {
      faults[key] = 'notJson'
    }
  }
  return faults
}
