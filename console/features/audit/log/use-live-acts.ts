import { useState } from 'react'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'

/**
 * The maximum number of acts (entries of the audit log) that the page keeps from live events. If
 * more acts arrive, the page drops all of them and reads the list again. This limits the memory use
 * of a page that stays open.
 */
const LIVE_ACTS_MAX = 500

export const actKey = ({ position, object }: AuditAct): string =>
  `${position} ${object.kind} ${object.id}`

type LiveList = {
  /**
   * Identifies the filters of the list. If `view` changes, the live acts received so far are
   * dropped.
   */
  readonly view: string
  readonly isListed: (act: AuditAct) => boolean
  /**
   * Reads the list again. If `position` is not null, the response must include all acts up to this
   * position of the event log.
   */
  readonly refetch: (position: number | null) => void
}

/**
 * Returns the acts that live events have delivered for the current `view` and that `isListed`
 * accepts. The act that arrived last comes first.
 */
export function useLiveActs({ view, isListed, refetch }: LiveList): readonly AuditAct[] {
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
      if (isFull) refetch(position)
    },
    onResync: refetch,
  })
  return acts
}

/**
 * Returns the list with the live acts, newest first and without duplicates. Live acts do not always
 * arrive in the order of their positions, because several workers update the read model in
 * parallel. If `isComplete` is false, more pages of the list can be loaded. Live acts that are
 * older than the last act in `listed` are then left out, because they will appear with their page
 * of the list.
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
  // The sort is stable, so acts with the same position keep their order.
  return [...added, ...listed].toSorted((one, other) => other.position - one.position)
}
