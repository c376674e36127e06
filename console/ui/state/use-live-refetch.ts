import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useThrottledCallback } from './use-throttled-callback.ts'

/**
 * Calls `refetch` after live events of the topic for which `isAbout` returns true, and after events
 * may have been missed. Calls it at most once in `minIntervalMs` milliseconds.
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
