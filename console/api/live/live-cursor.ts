import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live-messages.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import { FOLLOWED_TOPICS, type FollowedTopic, type LiveEvent } from './live-event.ts'

type EventMessage = Extract<LiveMessage, { type: 'event'; topic: FollowedTopic }>
type HealthMessage = EventMessage & { data: HealthPush }
type ProgressMessage = EventMessage & { topic: 'tasks'; data: TaskPush }
type TestMessage = EventMessage & { data: TestPush }
type NumberedMessage = EventMessage & { data: { id: number } | AuditAct }

type SeenAtPosition = { position: number; ids: Set<number | string> }

/**
 * Remembers the position of the last event that was received. After a reconnection, the stream
 * continues at this position. Several events can have the same position. The server therefore sends
 * all events of that position again, and the cursor drops those that were already received.
 */
export class LiveCursor {
  private seen = new Map<FollowedTopic, SeenAtPosition>()
  private last: number | null = null

  resumeAfter(): number | null {
    return this.last === null ? null : Math.max(0, this.last - 1)
  }

  /**
   * Converts a message of the server to events for the screens. An event of the kind `resync` tells
   * the screens to read their data again.
   */
  accept(message: LiveMessage): LiveEvent[] {
    if (message.type === 'ready') return this.start(message.position)
    if ('topic' in message && !isFollowed(message)) return []
    if (message.type === 'resync') {
      this.last = null
      return resyncsOf(message.topic, null)
    }
    if (message.type !== 'event') return []
    if (isHealth(message)) {
      return [{ kind: 'event', topic: 'health', position: message.position, data: message.data }]
    }
    if (isProgress(message)) {
      return [{ kind: 'event', topic: 'tasks', position: message.position, data: message.data }]
    }
    // The server sends the number of unread messages on every connection. This message does not
    // change the position at which the stream continues.
    if (message.topic === 'inbox') {
      return [{ kind: 'event', topic: 'inbox', position: message.position, data: message.data }]
    }
    if (isTest(message)) {
      this.last = Math.max(this.last ?? 0, message.position)
      return [{ kind: 'event', topic: 'tests', position: message.position, data: message.data }]
    }
    if (this.isRepeat(message as NumberedMessage)) return []
    this.last = Math.max(this.last ?? 0, message.position)
    const { topic, position, data } = message
    return [{ kind: 'event', topic, position, data } as LiveEvent]
  }

  /**
   * Handles the message `ready`, which the server sends after a subscription. If no position is
   * known yet, all screens are told to read their data again, because their data may be older than
   * the stream.
   */
  private start(position: number): LiveEvent[] {
    if (this.last !== null) return []
    this.last = position
    return FOLLOWED_TOPICS.flatMap((topic) => resyncsOf(topic, position))
  }

  private isRepeat(message: NumberedMessage): boolean {
    const seen = this.seen.get(message.topic)
    if (seen === undefined || message.position > seen.position) {
      const ids = new Set([idOf(message)])
      this.seen.set(message.topic, { position: message.position, ids })
      return false
    }
    if (message.position < seen.position || seen.ids.has(idOf(message))) return true
    seen.ids.add(idOf(message))
    return false
  }
}

/**
 * Returns an id that distinguishes events with the same position. An action on several objects
 * causes one event for each object, all with the same position.
 */
const idOf = ({ data }: NumberedMessage): number | string =>
  'object' in data ? `${data.object.kind}:${data.object.id}` : data.id

const isFollowed = <T extends { topic: LiveTopic }>(
  message: T,
): message is T & { topic: FollowedTopic } => message.topic !== 'stats'

const isHealth = (message: EventMessage): message is HealthMessage =>
  'kind' in message.data && message.data.kind === 'health'

/**
 * Reports whether a message contains the progress of tasks. Such a message does not change the
 * position at which the stream continues.
 */
const isProgress = (message: EventMessage): message is ProgressMessage =>
  message.topic === 'tasks' && message.data.kind === 'progress'

/**
 * Reports whether a message is about channel tests. A second copy of such a message is not dropped,
 * because it only repeats the state of a test.
 */
const isTest = (message: EventMessage): message is TestMessage =>
  'kind' in message.data && message.data.kind === 'test'

const resyncsOf = (topic: FollowedTopic, position: number | null): LiveEvent[] => [
  { kind: 'resync', topic, position },
  ...(topic === 'channels' ? [{ kind: 'resync' as const, topic: 'tests' as const, position }] : []),
]
