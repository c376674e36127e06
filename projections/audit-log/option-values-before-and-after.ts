type Values = Readonly<Record<string, unknown>>

/**
 * Returns the values of an option before and after a change. For two JSON objects, such as prices
 * by model, these are only the entries that differ, because the lists can be long.
 */
export function optionValues(
  before: string | null,
  after: string,
): { readonly before: Values; readonly after: Values } {
  const [earlier, later] = [entriesOf(before), entriesOf(after)]
  if (earlier === null || later === null)
    return { before: { value: before }, after: { value: after } }
  const changed = [...new Set([...earlier.keys(), ...later.keys()])].filter(
    (name) => JSON.stringify(earlier.get(name)) !== JSON.stringify(later.get(name)),
  )
  const pick = (values: ReadonlyMap<string, unknown>) =>
    Object.fromEntries(changed.map((name) => [name, values.get(name) ?? null]))
  return { before: pick(earlier), after: pick(later) }
}

function entriesOf(text: string | null): ReadonlyMap<string, unknown> | null {
  if (text === null || !text.startsWith('{')) return null
  try {
    return new Map(Object.entries(JSON.parse(text) as object))
  } catch {
    return null
  }
}
