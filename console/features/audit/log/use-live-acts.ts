import { useState } from 'react'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'

/**
 * The maximum number of live acts. If there are more, the list is read again, so that a page that
 * stays open does not use more and more memory.
 */
const LIVE_ACTS_MAX = 500

export const actKey = ({ position, object }: AuditAct): string =>
  `${position} ${object.kind} ${object.id}`

type LiveList = {
  /** Identifies the filters of the list. If it changes, the list starts again without live acts. */
  readonly view: string
  readonly isListed: (act: AuditAct) => boolean
  /**
   * Reads the list again. The result must include all acts up to `position`, unless that is null.
   */
  readonly readAgain: (position: number | null) => void
}

/**
 * Returns the acts that have arrived by the live stream since the list was opened, newest first.
 */
export function useLiveActs({ view, isListed, readAgain }: LiveList): readonly AuditAct[] {
  const [live, setLive] = useState<{ view: string; acts: readonly AuditAct[] }>({ view, acts: [] })
  const acts = live.view === view ? live.acts : []
  useLiveTopic('audit-log', {
    onEvents: (arrived, position) => {
      const added = arrived.filter(isListed).reverse()
      if (added.length === 0) return
      const isFull = acts.length + added.length > LIVE_ACTS_MAX
      setLive((last) => {
        const earlier = last.view === view && !isFull ? last.acts : []
        return { view, acts: isFull ? [] : [...added, ...earlier] }
      })
      if (isFull) readAgain(position)
    },
    onResync: readAgain,
  })
  return acts
}

/**
 * Merges live acts into a list, newest first and without duplicates. Acts can arrive in another
 * order than their positions, because a read model is updated by several workers (lanes). If the
 * list has more acts to load, live acts older than its last act are left out: they appear when that
 * part of the list is loaded.
 */
export function withLiveActs(
  listed: readonly AuditAct[],
  live: readonly AuditAct[],
  isComplete: boolean,
): readonly AuditAct[] {
  const lowest = isComplete ? 0 : (listed.at(-1)?.position ?? 0)
  const keys = new Set(listed.map(actKey))
  const added = live.filter((act) => act.position > lowest && !keys.has(actKey(act)))
  if (added.length === 0) return listed
  // The sort is stable: both lists have the acts of one position in the same order.
  return [...added, ...listed].toSorted((one, other) => other.position - one.position)
}
