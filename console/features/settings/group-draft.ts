import type { FieldErrors } from '#console/ui/forms/use-draft-form.ts'
import { formatDecimal, isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import { type GroupRow, ratioOverridesText, readRatioOverrides } from './group-rows.ts'

export type GroupDraft = Omit<GroupRow, 'ratioOverrides'> & { ratioOverrides: string }
export type GroupErrorKey =
  | 'nameMissing'
  | 'nameTaken'
  | 'notNumber'
  | 'negative'
  | 'ratioOverrides'

export const emptyGroup: GroupDraft = {
  name: '',
  ratio: '1',
  description: '',
  isUsable: true,
  color: '',
  ratioOverrides: '',
}

export const draftOfGroup = (row: GroupRow): GroupDraft => ({
  ...row,
  ratioOverrides: ratioOverridesText(row.ratioOverrides),
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
  if (readRatioOverrides(draft.ratioOverrides, new Set([...groups, name])) === null) {
    errorKeys.ratioOverrides = 'ratioOverrides'
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
    ratioOverrides:
      readRatioOverrides(draft.ratioOverrides, new Set([...groups, name])) ?? new Map(),
  }
}
