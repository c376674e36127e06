import type { LiveData, ScreenTopic } from '#console/api/live/live-event.ts'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { useThrottledCallback } from './use-throttled-callback.ts'

/** Reads again after live events, and after a resync. A resync means that events may be missing. */
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
