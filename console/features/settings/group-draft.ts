import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { formatDecimal, isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { type GroupRow, readSpecials, specialsText } from './group-rows.ts'

export type GroupDraft = Omit<GroupRow, 'specials'> & { specials: string }
export type GroupErrorKey = 'nameMissing' | 'nameTaken' | 'notNumber' | 'negative' | 'specials'

export const emptyGroup: GroupDraft = {
  name: '',
  ratio: '1',
  description: '',
  isUsable: true,
  color: '',
  specials: '',
}

export const draftOfGroup = (row: GroupRow): GroupDraft => ({
  ...row,
  specials: specialsText(row.specials),
})

export function validateGroup(
  draft: GroupDraft,
  groups: readonly string[],
  isNew: boolean,
): FieldErrors<GroupDraft, GroupErrorKey> {
  const errorKeys: FieldErrors<GroupDraft, GroupErrorKey> = {}
  const name = draft.name.trim()
  if (name === '') errorKeys.name = 'nameMissing'
  else if (isNew && groups.includes(name)) errorKeys.name = 'nameTaken'
  const ratio = parseDecimal(draft.ratio)
  if (ratio === null) errorKeys.ratio = 'notNumber'
  else if (isNegative(ratio)) errorKeys.ratio = 'negative'
  if (readSpecials(draft.specials, new Set([...groups, name])) === null) {
    errorKeys.specials = 'specials'
  }
  return errorKeys
}

/** Converts a draft to a row. The caller must have checked the draft with `validateGroup`. */
export function groupOfDraft(draft: GroupDraft, groups: readonly string[]): GroupRow {
  const name = draft.name.trim()
  const ratio = parseDecimal(draft.ratio)
  return {
    ...draft,
    name,
    ratio: ratio === null ? '1' : formatDecimal(ratio),
    specials: readSpecials(draft.specials, new Set([...groups, name])) ?? new Map(),
  }
}
