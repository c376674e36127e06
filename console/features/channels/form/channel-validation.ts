import type { Translations } from '#console/i18n/translation-types.ts'
import { secondsOfDateField } from '#console/ui/forms/date-field-text.ts'
import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { CHANNEL_FIELDS } from '#read-api/contract/channel-fields.ts'
import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import {
  type ChannelDraft,
  JSON_FIELDS,
  keysOf,
  NUMBER_FIELDS,
  needsKeyReentry,
} from './channel-draft.ts'
import { validateJson, validateJsonObject } from './json-validation.ts'

export type ChannelErrorKey =
  | keyof Translations['channelForm']['error']
  | 'modelsMissing'
  | 'notJson'
  | 'notInteger'
  | 'expiryPast'

type ChannelErrorKeys = FieldErrors<ChannelDraft, ChannelErrorKey>

/**
 * Returns an error key for each invalid field. `before` contains the stored values of the channel,
 * or is null for a new channel.
 */
export function validateChannel(
  draft: ChannelDraft,
  before: ChannelDraft | null,
  type: ChannelType | undefined,
): ChannelErrorKeys {
  const errorKeys: ChannelErrorKeys = { ...validateTypeFields(draft, type) }
  const set = (field: keyof ChannelErrorKeys, errorKey: ChannelErrorKey | null) => {
    if (errorKey !== null) errorKeys[field] = errorKey
  }
  set('name', draft.name.trim() === '' ? 'nameAndKeyMissing' : null)
  set('key', validateKey(draft, before))
  set('baseUrl', validateBaseUrl(draft, type))
  set('models', draft.models.length === 0 ? 'modelsMissing' : null)
  set('groups', draft.groups.length === 0 ? 'groupsMissing' : null)
  for (const field of JSON_FIELDS) set(field, validateJson(field, draft[field]))
  set('priority', isInteger(draft.priority) ? null : 'notInteger')
  for (const field of NUMBER_FIELDS) set(field, isNatural(draft[field]) ? null : 'notNatural')
  set('costRatio', isCostRatio(draft.costRatio) ? null : 'notCostRatio')
  set('expiresAt', validateExpiry(draft.expiresAt, before?.expiresAt))
  return errorKeys
}

export const isInteger = (text: string): boolean => /^-?\d{1,9}$/.test(text.trim())
export const isNatural = (text: string): boolean => /^\d{1,9}$/.test(text.trim())

/**
 * Reports whether `text` is a valid cost ratio. An empty text is valid and means that the cost
 * ratio is unknown.
 */
const isCostRatio = (text: string): boolean =>
  /^(?:\d{1,4}(?:\.\d{1,6})?)?$/.test(text.trim()) && Number(text) <= CHANNEL_FIELDS.costRatio.max

function validateKey(draft: ChannelDraft, before: ChannelDraft | null): ChannelErrorKey | null {
  if (keysOf(draft).length > 0) return null
  if (before === null) return 'nameAndKeyMissing'
  return needsKeyReentry(before, draft) ? 'keyMissing' : null
}

/**
 * Returns the error key of an expiry date, or null if the date is valid. A past date is valid only
 * if the user has not changed it.
 */
function validateExpiry(text: string, before: string | undefined): ChannelErrorKey | null {
  const seconds = secondsOfDateField(text, 0)
  if (seconds === null) return 'dateInvalid'
  const isPast = seconds > 0 && seconds * 1_000 <= Date.now()
  return isPast && text !== before ? 'expiryPast' : null
}

function validateBaseUrl(
  draft: ChannelDraft,
  type: ChannelType | undefined,
): ChannelErrorKey | null {
  const text = draft.baseUrl.trim()
  if (text === '') return type?.base_url === '' ? 'baseUrlMissing' : null
  if (type?.bases.some(({ keyword }) => keyword === text)) return null
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  return url !== null && isHttp && url.username === '' && url.search === ''
    ? null
    : 'baseUrlInvalid'
}

function validateTypeFields(draft: ChannelDraft, type: ChannelType | undefined): ChannelErrorKeys {
  const errorKeys: ChannelErrorKeys = {}
  for (const { key, kind, is_required: isRequired, default: preset } of type?.fields ?? []) {
    const text = draft[key].trim()
    if (text === '' && isRequired && preset === '') errorKeys[key] = 'fieldMissing'
    if (kind === 'json' && /^[[{]/.test(text) && validateJsonObject(text) === 'notJson') {
      errorKeys[key] = 'notJson'
    }
  }
  return errorKeys
}
