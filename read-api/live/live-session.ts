import type { WebSocket } from 'ws'
import { AUDITOR } from '#domain/shared/user-roles-and-statuses.ts'
import { closeSocketOnException } from '#infra/http/close-socket-on-exception.ts'
import type { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Principal } from '#infra/http/principal.ts'
import { unreadCounts } from '#projections/messages/query.ts'
import type { LiveMessage, LiveTopic } from '../contract/live-messages.ts'
import type { LogStat } from '../contract/logs.ts'
import type { Viewer } from '../logs/log-response.ts'
import type { ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import type { Hub } from './live-item-hub.ts'
import { readItems } from './read-live-items.ts'
import type { LiveItem } from './shared-live-buffer.ts'

const PENDING_MAX = 256
const PENDING_BYTES_MAX = 1_048_576
const BATCH_ROWS = 200
/**
 * The maximum number of missed items that are sent to a client. If a client has missed more items,
 * the server tells the client to read all its data again.
 */
const MISSED_MAX = 5_000

export type TaskProgress = {
  readonly id: string
  readonly userId: number
  readonly progress: string
}

type SessionDeps = Pick<ReadDeps, 'core' | 'progress' | 'providerMessages' | 'health'>

/**
 * The state of one socket of a client: the subscribed topics, the position up to which items were
 * sent, and the rights of the user.
 */
export class LiveSession {
  readonly principal: Principal
  readonly #socket: WebSocket
  readonly #deps: SessionDeps
  readonly #hub: Hub
  readonly #viewer: Viewer
  #topics: ReadonlySet<LiveTopic> = new Set()
  /** The position up to which all items for this user have been sent to the socket. */
  #sent = 0
  /**
   * The version of the health cache whose changes were sent to the client last. After a
   * subscription, this is the version at the time of the subscription.
   */
  #health = 0
  /** The totals of the site that were sent to the client last, as JSON text. */
  #stats = ''
  /**
   * The position at which the unread messages were last counted. Inbox items up to this position
   * are skipped, because the counts in these items are older.
   */
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

  /**
   * Subscribes to topics. All items with positions after `after` are sent in order. If the client
   * has missed too many items, the server tells the client to read all its data again. If `after`
   * is null, only new items are sent.
   */
  async subscribe(topics: readonly LiveTopic[], after: number | null): Promise<void> {
    this.#subscriptions += 1
    const subscription = this.#subscriptions
    this.#isFollowing = false
    await this.#hub.ready()
    if (subscription !== this.#subscriptions) return
    this.#topics = new Set(topics)
    this.#health = this.#deps.health.version
    this.#stats = ''
    this.#sent = after ?? this.#hub.buffer().upTo
    const isCaughtUp = after === null || (await this.#catchUp(subscription))
    if (subscription !== this.#subscriptions || this.#isClosed) return
    // The number of unread messages is sent at once, because the buffer has no items for messages
    // that arrived while no socket was open.
    if (this.#topics.has('inbox')) await this.#pushUnread()
    if (subscription !== this.#subscriptions || this.#isClosed) return
    if (!isCaughtUp) this.#resync()
    this.#isFollowing = true
    this.pump()
    this.send({ type: 'ready', position: this.#sent })
  }

  /**
   * Sends items from the buffer as long as the client can receive them. Called when the buffer has
   * new items, and when a slow client can receive messages again. If an item can't be shown, the
   * socket is closed, and the sockets of other users still receive their items.
   */
  pump(): void {
    closeSocketOnException(this.#deps.core.log, this.#socket, () => this.#sendBuffered())
  }

  #sendBuffered(): void {
    if (!this.#isFollowing || this.#isClosed || !this.#hasRoom) return
    const buffer = this.#hub.buffer()
    if (this.#sent < buffer.from) this.#resync()
    for (const item of buffer.after(this.#sent)) {
      // All items with the same position are sent together. A client that reconnects requests only
      // items with higher positions, so the client would never receive the remaining items of this
      // position.
      if (!this.#hasRoom && item.position > this.#sent) return
      this.#sent = item.position
      this.#deliver(item)
    }
    this.#sent = Math.max(this.#sent, buffer.upTo)
  }

  get receivesHealth(): boolean {
    return this.#isFollowing && this.#viewer.isAdmin && this.#topics.has('channels')
  }

  /**
   * Sends the channels whose health has changed. If the client is currently too slow, a later
   * message contains the changes.
   */
  pushHealth(): void {
    if (!this.receivesHealth || this.#isClosed || !this.#hasRoom) return
    const data = this.#deps.health.since(this.#health)
    this.#health = this.#deps.health.version
    if (data === null) return
    this.send({ type: 'event', topic: 'channels', position: this.#sent, data })
  }

  get receivesStats(): boolean {
    return this.#isFollowing && this.#viewer.isAdmin && this.#topics.has('stats')
  }

  /** Sends the totals of the site if they have changed since the last message. */
  pushStats(data: LogStat): void {
    const text = JSON.stringify(data)
    if (!this.receivesStats || this.#isClosed || !this.#hasRoom || text === this.#stats) return
    this.#stats = text
    this.send({ type: 'event', topic: 'stats', position: this.#sent, data })
  }

  get receivesTasks(): boolean {
    return this.#isFollowing && this.#topics.has('tasks')
  }

  /**
   * Sends the progress of tasks. If the client is currently too slow, nothing is sent, and the
   * client receives only later progress.
   */
  pushProgress(changed: readonly TaskProgress[]): void {
    if (!this.receivesTasks || this.#isClosed || !this.#hasRoom) return
    const { userId } = this.principal
    const tasks = changed
      .filter((task) => this.#viewer.isAdmin || task.userId === userId)
      .map(({ id, progress }) => ({ id, progress }))
    if (tasks.length === 0) return
    const data = { kind: 'progress' as const, tasks }
    this.send({ type: 'event', topic: 'tasks', position: this.#sent, data })
  }

  /** Sends an error with the code and the message that a response to a request would have. */
  sendError({ code, translatedMessage }: HttpError): void {
    this.send({ type: 'error', code, message: translatedMessage[this.#viewer.language] })
  }

  send(message: LiveMessage): void {
    this.#write(JSON.stringify(message))
  }

  /**
   * Sends the items that the client has missed and that are no longer in the buffer. Returns false
   * if the client must read all its data again, because the client has missed too many items or has
   * sent a position that does not exist.
   */
  async #catchUp(subscription: number): Promise<boolean> {
    if (this.#sent > this.#hub.buffer().upTo) {
      return this.#sent <= (await this.#deps.core.store.headPosition())
    }
    let missed = 0
    while (this.#sent < this.#hub.buffer().from) {
      const { userId } = this.principal
      const { items, upTo } = await readItems(this.#deps, {
        after: this.#sent,
        upTo: this.#hub.buffer().upTo,
        limit: BATCH_ROWS,
        ...(this.#viewer.isAdmin ? {} : { userId }),
        hasChannels: this.#viewer.isAdmin && this.#topics.has('channels'),
        hasUsers: this.#viewer.isAdmin && this.#topics.has('users'),
        hasActs: this.#isAuditor && this.#topics.has('audit-log'),
      })
      missed += items.length
      if (missed > MISSED_MAX) return false
      if (subscription !== this.#subscriptions || this.#isClosed) return true
      for (const item of items) this.#deliver(item)
      this.#sent = upTo
      await this.#waitForRoom()
    }
    return true
  }

  #deliver(item: LiveItem): void {
    const { userId } = this.principal
    const isOwn = item.ownerId === userId || item.ownerId === 'each'
    const isVisible =
      item.ownerId === 'auditors'
        ? this.#isAuditor
        : isOwn || (this.#viewer.isAdmin && item.isPrivate !== true)
    if (!isVisible || !this.#topics.has(item.topic)) return
    if (item.topic === 'inbox' && item.position <= this.#unread) return
    const text = item.textFor(this.#viewer, userId)
    if (text !== null) this.#write(text)
  }

  get #isAuditor(): boolean {
    return this.principal.role >= AUDITOR
  }

  async #pushUnread(): Promise<void> {
    const { userId } = this.principal
    this.#unread = this.#hub.buffer().upTo
    const counts = await unreadCounts(this.#deps.core.db, [userId])
    const data = { unread_count: counts.get(userId) ?? 0 }
    this.send({ type: 'event', topic: 'inbox', position: this.#sent, data })
  }

  /** Tells the client to read all its data again. Afterwards, only new items are sent. */
  #resync(): void {
    this.#sent = this.#hub.buffer().upTo
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

  #waitForRoom(): Promise<void> {
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
