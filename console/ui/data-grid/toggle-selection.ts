/**
 * Selects the row at `index`, or deselects it if it is selected. With `isRange` (the Shift key),
 * all rows from `anchor` to this row are set to the same state.
 */
export function toggled(
  selected: ReadonlySet<string>,
  keys: readonly string[],
  index: number,
  range: { isRange: boolean; anchor: number | null },
): Set<string> {
  const next = new Set(selected)
  const key = keys[index]
  if (key === undefined) return next
  const isOn = !selected.has(key)
  const from = range.isRange && range.anchor !== null ? range.anchor : index
  for (const each of keys.slice(Math.min(from, index), Math.max(from, index) + 1)) {
    if (isOn) next.add(each)
    else next.delete(each)
  }
  return next
}

export function allToggled(selected: ReadonlySet<string>, keys: readonly string[]): Set<string> {
  const next = new Set(selected)
  const areAllOn = keys.every((key) => selected.has(key))
  for (const key of keys) {
    if (areAllOn) next.delete(key)
    else next.add(key)
  }
  return next
}
