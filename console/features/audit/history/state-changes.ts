type State = Readonly<Record<string, unknown>>

export type StateChange = {
  readonly name: string
  /** The value before the change, or null if the value did not exist. */
  readonly before: string | null
  /** The value after the change, or null if the change removed it. */
  readonly after: string | null
}

const SEPARATOR = ' › '
/**
 * The maximum depth at which members of nested objects are separate values. Deeper objects are
 * shown as JSON.
 */
const DEPTH_MAX = 3

/**
 * Returns the values that differ between two states of an object, sorted by name. A state is null
 * if the object does not exist in it.
 */
export function changesBetween(before: State | null, after: State | null): StateChange[] {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  const names = new Set([...old.keys(), ...now.keys()])
  return [...names]
    .toSorted()
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((change) => change.before !== change.after)
}

/**
 * Returns the values of a state as texts, by name. Each member of an object is a separate value,
 * and so is each member of an option that contains JSON, such as a table of prices. Empty values
 * are left out.
 */
export function valuesOf(state: State | null): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const add = (name: string, value: unknown, depth: number): void => {
    const members = depth < DEPTH_MAX ? membersOf(value) : null
    if (members === null) {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      if (text !== '' && text !== 'null' && text !== '[]' && text !== undefined) {
        values.set(name, text)
      }
      return
    }
    for (const [key, member] of Object.entries(members)) {
      add(name === '' ? key : name + SEPARATOR + key, member, depth + 1)
    }
  }
  if (state !== null) add('', state, 0)
  return values
}

function membersOf(value: unknown): Record<string, unknown> | null {
  if (typeof value === 'string' && value.startsWith('{')) {
    try {
      return membersOf(JSON.parse(value))
    } catch {
      return null
    }
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : null
}
