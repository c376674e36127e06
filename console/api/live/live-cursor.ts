import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { LiveEvent } from './live-event.ts'

const TOPICS: readonly LiveTopic[] = ['logs', 'channels']

type Seen = { position: number; ids: Set<number> }

/**
 * Remembers how far the stream was read, so that a new connection goes on where the last one broke:
 * no gap and no repeat. One per stream, kept across connections.
 *
 * NOTE: two topics can speak of one position, and the break can fall between them. So a connection
 * resumes one position early, and what is known of that position already is dropped here.
 */
export class LiveCursor {
  private seen = new Map<LiveTopic, Seen>()
  private last: number | null = null

  /** What to send as `after`; null on the first connection. */
  resumeAfter(): number | null {
    return this.last === null ? null : Math.max(0, this.last - 1)
  }

  /** What the message means to the screens: nothing, one event, or a resync. */
  accept(message: LiveMessage): LiveEvent[] {
    if (message.type === 'ready') return this.start(message.position)
    if (message.type === 'resync') {
      this.last = null
      return [{ kind: 'resync', topic: message.topic, position: null }]
    }
    if (message.type !== 'event' || this.isRepeat(message)) return []
    this.last = Math.max(this.last ?? 0, message.position)
    const { topic, position, data } = message
    return [{ kind: 'event', topic, position, data }]
  }

  /** Only a connection that did not resume starts here: what was read before it may be older. */
  private start(position: number): LiveEvent[] {
    if (this.last !== null) return []
    this.last = position
    return TOPICS.map((topic) => ({ kind: 'resync', topic, position }))
  }

  private isRepeat(message: Extract<LiveMessage, { type: 'event' }>): boolean {
    const seen = this.seen.get(message.topic)
    if (seen === undefined || message.position > seen.position) {
      const ids = new Set([message.data.id])
      this.seen.set(message.topic, { position: message.position, ids })
      return false
    }
    if (message.position < seen.position || seen.ids.has(message.data.id)) return true
    seen.ids.add(message.data.id)
    return false
  }
}
