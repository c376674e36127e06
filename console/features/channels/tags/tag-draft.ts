import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import type { UpdateTag } from '#write-api/contract/channels.ts'
import { parseNames } from '../form/channel-draft.ts'
import { isInteger, isNatural } from '../form/channel-validation.ts'
import { type JsonErrorKey, validateJson } from '../form/json-validation.ts'

/**
 * The values of the form for all channels of a tag. An empty field leaves the channels unchanged.
 * However, an empty `newTag` removes the channels from the tag.
 */
export type TagDraft = {
  newTag: string
  models: readonly string[]
  groups: readonly string[]
  modelMapping: string
  priority: string
  weight: string
}

export type TagErrorKey = JsonErrorKey | 'notInteger' | 'notNatural'

/**
 * Returns the initial values of the form for a tag. A field is empty if the channels of the tag
 * have different values.
 */
export function draftOfTag(
  { tag, priority, weight }: TagGroup,
  children: readonly Channel[],
): TagDraft {
  const common = (values: readonly string[]) =>
    new Set(values).size === 1 ? (values[0] ?? '') : ''
  return {
    newTag: tag,
    models: parseNames(common(children.map(({ models }) => models))),
    groups: parseNames(common(children.map(({ group }) => group))),
    modelMapping: common(children.map(({ model_mapping }) => model_mapping)),
    priority: priority === null ? '' : String(priority),
    weight: weight === null ? '' : String(weight),
  }
}

export function validateTag(draft: TagDraft): FieldErrors<TagDraft, TagErrorKey> {
  const { modelMapping, priority, weight } = draft
  const errorKey = validateJson('modelMapping', modelMapping)
  return {
    ...(errorKey === null ? {} : { modelMapping: errorKey }),
    ...(priority.trim() === '' || isInteger(priority) ? {} : { priority: 'notInteger' }),
    ...(weight.trim() === '' || isNatural(weight) ? {} : { weight: 'notNatural' }),
  }
}

export function tagChange(tag: string, before: TagDraft, after: TagDraft): UpdateTag | null {
  const old = termsOf(before)
  const changed = Object.entries(termsOf(after)).filter(
    ([field, value]) => value !== old[field as keyof typeof old] && (value !== '' || isTag(field)),
  )
  return changed.length === 0 ? null : { tag, ...Object.fromEntries(changed) }
}

/**
 * Reports whether `field` is the field for the new name of the tag. This field is sent even if it
 * is empty, because an empty name removes the channels from their tag.
 */
const isTag = (field: string): boolean => field === 'new_tag'

const termsOf = (draft: TagDraft) => ({
  new_tag: draft.newTag.trim(),
  models: draft.models.join(','),
  groups: draft.groups.join(','),
  model_mapping: draft.modelMapping.trim(),
  priority: numberOf(draft.priority),
  weight: numberOf(draft.weight),
})

const numberOf = (text: string): number | '' => (text.trim() === '' ? '' : Number(text))
