import type { WebSocket } from 'ws'
import type { HttpError } from '#infra/http/http-errors.ts'
import type { Principal } from '#infra/http/principal.ts'
import { unreadCounts } from '#projections/messages/query.ts'
import type { LiveMessage, LiveTopic } from '../contract/live.ts'
import type { LogStat } from '../contract/logs.ts'
import type { Viewer } from '../logs/log-answer.ts'
import type { ReadDeps } from '../question.ts'
import type { Hub } from './hub.ts'
import { readItems } from './read-items.ts'
import type { LiveItem } from './ring.ts'

const PENDING_MAX = 256
const PENDING_BYTES_MAX = 1_048_576
const PAGE = 200
/** A reader who missed more than this reads again instead. */
const MISSED_MAX = 5_000

/** The progress of one task, and the user whose task it is. */
export type TaskProgress = {
  readonly id: string
  readonly userId: number
  readonly progress: string
}

type SessionDeps = Pick<ReadDeps, 'core' | 'progress' | 'providerMessages' | 'health'>

/** One socket's place in the stream, and what it may see of it. */
export class LiveSession {
  readonly principal: Principal
  readonly #socket: WebSocket
  readonly #deps: SessionDeps
  readonly #hub: Hub
  readonly #viewer: Viewer
  #topics: ReadonlySet<LiveTopic> = new Set()
  /** Everything up to here was sent, or was not for this one. */
  #sent = 0
  /** What of the channels' health was sent, or was there before. */
  #health = 0
  /** The totals of the site that were sent last. */
  #stats = ''
  /** Up to here the number of unread messages was sent; one of before may be older. */
  #unread = 0
  #isFollowing = false
  #subscriptions = 0
  #pending = 0
  #pendingBytes = 0
  #drained: (() => void)[] = []

  constructor(fields: {
    socket: WebSocket
    deps: SessionDeps
    hub: Hub
    principal: Principal
    viewer: Viewer
  }) {
    this.#socket = fields.socket
    this.#deps = fields.deps
    this.#hub = fields.hub
    this.principal = fields.principal
    this.#viewer = fields.viewer
  }

  /** Follows the topics from now on, or from `after` on: then with everything missed, in order. */
  async subscribe(topics: readonly LiveTopic[], after: number | null): Promise<void> {
    this.#subscriptions += 1
    const mine = this.#subscriptions
    this.#isFollowing = false
    await this.#hub.ready()
    if (mine !== this.#subscriptions) return
    this.#topics = new Set(topics)
    this.#health = this.#deps.health.version
    this.#stats = ''
    this.#sent = after ?? this.#hub.ring().upTo
    const isCaughtUp = after === null || (await this.#catchUp(mine))
    if (mine !== this.#subscriptions || this.#isClosed) return
    // What came while nobody was here is in no item of the ring, and the number says it all.
    if (this.#topics.has('inbox')) await this.#passUnread()
    if (mine !== this.#subscriptions || this.#isClosed) return
    if (!isCaughtUp) this.#resync()
    this.#isFollowing = true
    this.pump()
    this.send({ type: 'ready', position: this.#sent })
  }

  /** Sends on from the ring as long as the reader takes it; called whenever either has moved. */
  pump(): void {
    if (!this.#isFollowing || this.#isClosed || !this.#hasRoom) return
    const ring = this.#hub.ring()
    if (this.#sent < ring.from) this.#resync()
    for (const item of ring.after(this.#sent)) {
      // Several items can be of one position: they go together, or a part of them would be lost.
      if (!this.#hasRoom && item.position > this.#sent) return
      this.#sent = item.position
      this.#pass(item)
    }
    this.#sent = Math.max(this.#sent, ring.upTo)
  }

  get wantsHealth(): boolean {
    return this.#isFollowing && this.#viewer.isAdmin && this.#topics.has('channels')
  }

  /** What changed since the last time; a reader who is behind gets it all with the next. */
  passHealth(): void {
    if (!this.wantsHealth || this.#isClosed || !this.#hasRoom) return
    const data = this.#deps.health.since(this.#health)
    this.#health = this.#deps.health.version
    if (data === null) return
    this.send({ type: 'event', topic: 'channels', position: this.#sent, data })
  }

  get wantsStats(): boolean {
    return this.#isFollowing && this.#viewer.isAdmin && this.#topics.has('stats')
  }

  /** Once, and whenever they are others than the last ones sent. */
  passStats(data: LogStat): void {
    const text = JSON.stringify(data)
    if (!this.wantsStats || this.#isClosed || !this.#hasRoom || text === this.#stats) return
    this.#stats = text
    this.send({ type: 'event', topic: 'stats', position: this.#sent, data })
  }

  get wantsTasks(): boolean {
    return this.#isFollowing && this.#topics.has('tasks')
  }

  /** How far some tasks are; a reader who is behind gets what comes later. */
  passProgress(changed: readonly TaskProgress[]): void {
    if (!this.wantsTasks || this.#isClosed || !this.#hasRoom) return
    const { userId } = this.principal
    const tasks = changed
      .filter((task) => this.#viewer.isAdmin || task.userId === userId)
      .map(({ id, progress }) => ({ id, progress }))
    if (tasks.length === 0) return
    const data = { kind: 'progress' as const, tasks }
    this.send({ type: 'event', topic: 'tasks', position: this.#sent, data })
  }

  /** Words as the REST calls have them. */
  sendError({ code, words }: HttpError): void {
    this.send({ type: 'error', code, message: words[this.#viewer.language] })
  }

  send(message: LiveMessage): void {
    this.#write(JSON.stringify(message))
  }

  /** Reads what was missed until the ring takes over; false when that is too much. */
  async #catchUp(mine: number): Promise<boolean> {
    if (this.#sent > this.#hub.ring().upTo) {
      return this.#sent <= (await this.#deps.core.store.headPosition())
    }
    let missed = 0
    while (this.#sent < this.#hub.ring().from) {
      const { userId } = this.principal
      const { items, upTo } = await readItems(this.#deps, {
        after: this.#sent,
        upTo: this.#hub.ring().upTo,
        limit: PAGE,
        ...(this.#viewer.isAdmin ? {} : { userId }),
        hasChannels: this.#viewer.isAdmin && this.#topics.has('channels'),
        hasUsers: this.#viewer.isAdmin && this.#topics.has('users'),
      })
      missed += items.length
      if (missed > MISSED_MAX) return false
      if (mine !== this.#subscriptions || this.#isClosed) return true
      for (const item of items) this.#pass(item)
      this.#sent = upTo
      await this.#room()
    }
    return true
  }

  #pass(item: LiveItem): void {
    const { userId } = this.principal
    const isOwn = item.ownerId === userId || item.ownerId === 'each'
    const isVisible = isOwn || (this.#viewer.isAdmin && item.isPrivate !== true)
    if (!isVisible || !this.#topics.has(item.topic)) return
    if (item.topic === 'inbox' && item.position <= this.#unread) return
    const text = item.textFor(this.#viewer, userId)
    if (text !== null) this.#write(text)
  }

  async #passUnread(): Promise<void> {
    const { userId } = this.principal
    this.#unread = this.#hub.ring().upTo
    const counts = await unreadCounts(this.#deps.core.db, [userId])
    const data = { unread_count: counts.get(userId) ?? 0 }
    this.send({ type: 'event', topic: 'inbox', position: this.#sent, data })
  }

  /** Too far behind: told to read again, and goes on from now. */
  #resync(): void {
    this.#sent = this.#hub.ring().upTo
    for (const topic of this.#topics) this.send({ type: 'resync', topic })
  }

  #write(text: string): void {
    if (this.#isClosed) return
    const bytes = Buffer.byteLength(text)
    this.#pending += 1
    this.#pendingBytes += bytes
    this.#socket.send(text, () => {
      this.#pending -= 1
      this.#pendingBytes -= bytes
      if (this.#pending > PENDING_MAX / 2 || this.#pendingBytes > PENDING_BYTES_MAX / 2) return
      for (const resume of this.#drained.splice(0)) resume()
      this.pump()
    })
  }

  #room(): Promise<void> {
    if (this.#hasRoom) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  get #hasRoom(): boolean {
    return this.#pending < PENDING_MAX && this.#pendingBytes < PENDING_BYTES_MAX
  }

  get #isClosed(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN
  }
}
