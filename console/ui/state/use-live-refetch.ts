import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useThrottledCallback } from './use-throttled-callback.ts'

/**
 * Reads data again after live events of a topic. It is also read again after a resync, which means
 * that events may have been missed.
 */
export function useLiveRefetch<Topic extends ScreenTopic>(
  topic: Topic,
  everyMs: number,
  readAgain: () => void,
  isAbout: (change: LiveData[Topic]) => boolean,
): void {
  const readSoon = useThrottledCallback(readAgain, everyMs)
  useLiveTopic(topic, {
    onEvents: (changes) => {
      if (changes.some(isAbout)) readSoon()
    },
    onResync: readSoon,
  })
}
