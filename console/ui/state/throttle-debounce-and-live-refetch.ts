import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'

/**
 * Returns a function that runs `perform` at most once per `minIntervalMs` milliseconds. The first
 * call runs `perform` immediately. Later calls within the interval are combined into one run at the
 * end of the interval.
 */
export function useThrottledCallback(perform: () => void, minIntervalMs: number): () => void {
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
    const runIfPending = (): void => {
      timer.current = null
      if (!isPending.current) return
      isPending.current = false
      run()
      timer.current = setTimeout(runIfPending, minIntervalMs)
    }
    if (timer.current === null) runIfPending()
  }, [minIntervalMs])
}

/**
 * Calls `refetch` after live events of `topic`, but only if `isAbout` returns true for the data of
 * one of them. Also calls `refetch` if events may have been missed. `refetch` is called at most
 * once in `minIntervalMs` milliseconds.
 */
export function useLiveRefetch<Topic extends ScreenTopic>(
  topic: Topic,
  minIntervalMs: number,
  refetch: () => void,
  isAbout: (change: LiveData[Topic]) => boolean,
): void {
  const refetchSoon = useThrottledCallback(refetch, minIntervalMs)
  useLiveTopic(topic, {
    onEvents: (changes) => {
      if (changes.some(isAbout)) refetchSoon()
    },
    onResync: refetchSoon,
  })
}

export function useDebouncedValue<Value extends string | null>(
  value: Value,
  waitMs: number,
): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
