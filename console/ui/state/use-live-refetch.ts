import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useThrottledCallback } from './use-throttled-callback.ts'

/**
 * Calls `readAgain` when a live event of the topic concerns the data, which `isAbout` decides. Also
 * calls it when events may have been missed. Calls it at most once in `everyMs` milliseconds.
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
