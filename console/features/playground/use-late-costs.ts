import { useEffect, useRef } from 'react'
import { costAtOnce } from './answer-cost.ts'
import type { Conversations } from './use-conversations.ts'

/** The log is asked for the last few answers alone: what is older was looked at before. */
const LOOKED_AT_MOST = 10

/** What answers cost whose page was left before it was known: looked up when it is opened again. */
export function useLateCosts({ open, setCost }: Conversations): void {
  const asked = useRef(new Set<string>())
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each conversation opened
  useEffect(() => {
    const late = open.messages
      .filter(({ cost, isCostLate, status }) => !cost && isCostLate && status === 'complete')
      .slice(-LOOKED_AT_MOST)
    for (const { id, call } of late) {
      if (call === undefined || asked.current.has(call)) continue
      asked.current.add(call)
      void costAtOnce(call).then((cost) => cost !== null && setCost(open.id, id, cost))
    }
  }, [open.id])
}
