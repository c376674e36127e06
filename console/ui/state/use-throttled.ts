import { useCallback, useEffect, useEffectEvent, useRef } from 'react'
import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'

/** The first call takes effect immediately. The last call is delayed but never lost. */
export function useThrottled(perform: () => void, everyMs: number): () => void {
  const run = useEffectEvent(perform)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const isPending = useRef(false)
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current)
      timer.current = null
    },
    [],
  )
  return useCallback(() => {
    isPending.current = true
    const turn = (): void => {
      timer.current = null
      if (!isPending.current) return
      isPending.current = false
      run()
      timer.current = setTimeout(turn, everyMs)
    }
    if (timer.current === null) turn()
  }, [everyMs])
}

/** Reads again after live events, and after a resync, because events may have been missed. */
export function useLiveRefetch<Topic extends ScreenTopic>(
  topic: Topic,
  everyMs: number,
  readAgain: () => void,
  isAbout: (change: LiveData[Topic]) => boolean,
): void {
  const readSoon = useThrottled(readAgain, everyMs)
  useLiveTopic(topic, {
    onEvents: (changes) => {
      if (changes.some(isAbout)) readSoon()
    },
    onResync: readSoon,
  })
}
