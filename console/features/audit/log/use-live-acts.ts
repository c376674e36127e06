import { useState } from 'react'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import type { AuditAct } from '#read-api/contract/audit-log.ts'

/** Beyond this number, the list is read again, so that an open page needs no more memory. */
const LIVE_ACTS_MAX = 500

export const actKey = ({ position, object }: AuditAct): string =>
  `${position} ${object.kind} ${object.id}`

type LiveList = {
  /** Identifies the filters. Another list starts without live acts. */
  readonly view: string
  readonly isListed: (act: AuditAct) => boolean
  /** Reads the list again. It must then include `position`, if that is not null. */
  readonly readAgain: (position: number | null) => void
}

/** Returns the acts that were received since the list was opened, newest first. */
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
 * Adds the live acts to a list, newest first and each once. Positions may arrive unordered, because
 * the lanes of a read model advance separately. Live acts below the last act of an incomplete list
 * are left out: they appear when older acts are loaded.
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
