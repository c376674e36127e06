import { infiniteQueryOptions } from '@tanstack/react-query'
import { isNotFound } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import type { StateAsOf, StateKind } from '#read-api/contract/time-travel.ts'
import { changesBetween, type StateChange } from './state-changes.ts'

export type AuditObject = { readonly kind: StateKind; readonly id: string }

/** One change of an object: when and by whom it was changed, and which values. */
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
 * Lists the changes of an object up to a point in the history, newest first. Each change is
 * computed as the difference between the states before and after an event, so the server needs no
 * index of changes.
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
        const changes = changesBetween(before?.state ?? null, after.state)
        items.push({ ...change, changes })
        after = before
      }
      const last = items.at(-1)
      const hasOlderChanges = after?.last_change != null && last !== undefined
      return { items, next: hasOlderChanges ? String(last.position - 1) : null }
    },
    getNextPageParam: ({ next }) => next,
  })
