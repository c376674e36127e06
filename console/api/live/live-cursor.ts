import type { AuditAct } from '#read-api/contract/audit-log.ts'
import type { TestPush } from '#read-api/contract/channel-actions.ts'
import type { HealthPush } from '#read-api/contract/channel-health.ts'
import type { LiveMessage, LiveTopic } from '#read-api/contract/live.ts'
import type { TaskPush } from '#read-api/contract/tasks.ts'
import { FOLLOWED_TOPICS, type FollowedTopic, type LiveEvent } from './live-event.ts'

type EventMessage = Extract<LiveMessage, { type: 'event'; topic: FollowedTopic }>
type HealthMessage = EventMessage & { data: HealthPush }
type ProgressMessage = EventMessage & { topic: 'tasks'; data: TaskPush }
type TestMessage = EventMessage & { data: TestPush }
type NumberedMessage = EventMessage & { data: { id: number } | AuditAct }

type SeenAtPosition = { position: number; ids: Set<number | string> }

/**
 * Tracks the received events. Two topics can share a position, so a reconnected stream repeats the
 * last position. Events that were already received are dropped.
 */
export class LiveCursor {
  private seen = new Map<FollowedTopic, SeenAtPosition>()
  private last: number | null = null

  resumeAfter(): number | null {
    return this.last === null ? null : Math.max(0, this.last - 1)
  }

  /** Converts a message to events. A `resync` event makes screens read their data again. */
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
    // The unread count is sent on every connection and does not advance the position.
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

  /** The first connection resyncs every topic, because the data on screens may be outdated. */
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

/** One event may be an act on several objects, which share its position. */
const idOf = ({ data }: NumberedMessage): number | string =>
  'object' in data ? `${data.object.kind}:${data.object.id}` : data.id

const isFollowed = <T extends { topic: LiveTopic }>(
  message: T,
): message is T & { topic: FollowedTopic } => message.topic !== 'stats'

const isHealth = (message: EventMessage): message is HealthMessage =>
  'kind' in message.data && message.data.kind === 'health'

/** A message about a task's progress does not advance the stream position. */
const isProgress = (message: EventMessage): message is ProgressMessage =>
  message.topic === 'tasks' && message.data.kind === 'progress'

/** A message about a channel test may be received twice without harm. */
const isTest = (message: EventMessage): message is TestMessage =>
  'kind' in message.data && message.data.kind === 'test'

const resyncsOf = (topic: FollowedTopic, position: number | null): LiveEvent[] => [
  { kind: 'resync', topic, position },
  ...(topic === 'channels' ? [{ kind: 'resync' as const, topic: 'tests' as const, position }] : []),
]
