import { infiniteQueryOptions } from '@tanstack/react-query'
import { isNotFound } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import type { StateAsOf, StateKind } from '#read-api/contract/time-travel.ts'

type State = Readonly<Record<string, unknown>>

type StateChange = {
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
 * if the object did not exist at that time.
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
 * Returns the values of a state as texts, by name. Each member of an object is a separate value. An
 * option that contains JSON, such as a table of prices, is also divided into its members. Empty
 * values are left out.
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

export type AuditObject = { readonly kind: StateKind; readonly id: string }

/** One change of an object: its time, the user who made it, and the changed values. */
export type ObjectChange = NonNullable<StateAsOf['last_change']> & {
  readonly changes: readonly StateChange[]
}

const CHANGES_PER_PAGE = 8

/**
 * Reads the state of an object at a point in the history: a position of the event log, or a time.
 * Returns null if the object did not exist at that point.
 */
export async function readState(
  { kind, id }: AuditObject,
  at: string,
  signal: AbortSignal,
): Promise<StateAsOf | null> {
  try {
    const params = { kind, id }
    return await call('GET /api/audit/state/:kind/:id', { params, query: { at }, signal })
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/**
 * Returns the state of an object before a change, or null if the object did not exist. An option
 * that had not been changed before had its built-in value, which `built_in` contains. Without this
 * value, the first change of an option, such as a table of prices, would seem to add all its
 * entries.
 */
function stateBefore(before: StateAsOf | null, { built_in: builtIn }: StateAsOf): State | null {
  if (builtIn === undefined) return before?.state ?? null
  return { ...builtIn, ...before?.state }
}

/**
 * Lists the changes of an object up to a point in the history, newest first. The browser computes
 * each change from the states before and after an event, so that the server needs no index of
 * changes.
 */
export const objectHistoryQuery = (object: AuditObject, at: string) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'history', object, at],
    initialPageParam: at,
    queryFn: async ({ pageParam, signal }) => {
      const items: ObjectChange[] = []
      let after = await readState(object, pageParam, signal)
      while (after?.last_change != null && items.length < CHANGES_PER_PAGE) {
        const change = after.last_change
        const before = await readState(object, String(change.position - 1), signal)
        const changes = changesBetween(stateBefore(before, after), after.state)
        items.push({ ...change, changes })
        after = before
      }
      const last = items.at(-1)
      const hasOlderChanges = after?.last_change != null && last !== undefined
      return { items, next: hasOlderChanges ? String(last.position - 1) : null }
    },
    getNextPageParam: ({ next }) => next,
  })
