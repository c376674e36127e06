import type { IncomingHttpHeaders } from 'node:http'
import { type Offer, oncePerOffer } from '#domain/routing/channels-by-group-and-model.ts'
import type { SharedCache } from '#infra/redis/shared-cache.ts'
import type { Vault } from '#infra/vault/port.ts'
import { outcomeOf } from '../channel-health/attempt-outcome.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import type { Caller } from './authenticate.ts'
import { type Session, sessionOf } from './recognize-session-of-request.ts'

/** The assignment of a session: the channel and key that served its last successful call. */
type Assignment = {
  readonly channelId: number
  readonly keyRef: string
  /** The time since which this channel and key have served the session, in Unix milliseconds. */
  readonly since: number
}

/**
 * An assignment with the times of its last use and of its last write to Redis, by
 * `performance.now()`.
 */
type Entry = { readonly assignment: Assignment; usedAt: number; sharedAt: number }

const PARTITIONS = 8
const NAMED_PER_PARTITION_MAX = 8_192
const UNNAMED_PER_PARTITION_MAX = 4_096
/**
 * The maximum length of a key reference that is remembered. With this limit, an entry takes up to
 * 400 bytes, so all entries together take less than 40 MB.
 */
const KEY_REF_LENGTH_MAX = 128

/**
 * Holds a part of the remembered sessions. When the partition is full, the least recently used
 * session is removed.
 */
class Partition {
  private readonly entries = new Map<string, Entry>()
  private readonly max: number
  private sharesSince = 0
  private shares = 0

  constructor(max: number) {
    this.max = max
  }

  get size(): number {
    return this.entries.size
  }

  /** Returns the entry of a session that was used within `idleMs`. */
  find(key: string, idleMs: number, now: number): Entry | null {
    const entry = this.entries.get(key)
    if (entry === undefined) return null
    if (entry.usedAt > now - idleMs) return entry
    this.entries.delete(key)
    return null
  }

  /** Stores an entry as the most recently used one. */
  put(key: string, entry: Entry): void {
    this.entries.delete(key)
    if (this.entries.size >= this.max) {
      const [oldest] = this.entries.keys()
      if (oldest !== undefined) this.entries.delete(oldest)
    }
    this.entries.set(key, entry)
  }

  remove(key: string): void {
    this.entries.delete(key)
  }

  /**
   * Counts an assignment that is about to be written to Redis, where it stays for `idleMs`. Returns
   * false if there were too many such writes in the current period, which also lasts `idleMs`.
   * Without this limit, a caller with a new id in each call could fill Redis.
   */
  countShare(idleMs: number, now: number): boolean {
    if (now - this.sharesSince >= idleMs) {
      this.sharesSince = now
      this.shares = 0
    }
    this.shares += 1
    return this.shares <= this.max
  }
}

const partitionsOf = (max: number): readonly Partition[] =>
  Array.from({ length: PARTITIONS }, () => new Partition(max))

type SessionOfToken = Session & { readonly tokenId: number }

type Deps = {
  readonly vault: Pick<Vault, 'keyedHash'>
  /** Stores the assignments that all processes share. Null without Redis. */
  readonly cache: SharedCache | null
  /** The time after which an idle session is forgotten. Null if session affinity is turned off. */
  readonly idleMs: () => number | null
  readonly now: () => number
}

/**
 * Remembers the channel and key that served each session last (its assignment), so that the next
 * calls of the session are sent there. This saves cost, because providers cache prompts for each
 * account. An assignment is only a hint: its channel is used only if the call could also be sent to
 * this channel without the assignment. Assignments are kept in this process and, if there is Redis,
 * shared with all processes.
 */
export class SessionAffinity {
  private readonly deps: Deps
  /**
   * The sessions whose ids clients have sent. All sessions of a token are in one partition, so a
   * token with many sessions can't displace the sessions of most other tokens.
   */
  private readonly named = partitionsOf(NAMED_PER_PARTITION_MAX)
  /** The sessions that are recognized by their first message. Many of them have only one call. */
  private readonly unnamed = partitionsOf(UNNAMED_PER_PARTITION_MAX)

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** The number of sessions that this process remembers. */
  get size(): number {
    return [...this.named, ...this.unnamed].reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Finds the session of a call and its assignment. Returns null if the call belongs to no session
   * or names a channel, or if session affinity is turned off. The first turn of a conversation gets
   * no assignment. The result is a promise only if this process does not know the session and Redis
   * must be asked.
   */
  find(
    caller: Pick<Caller, 'user' | 'token' | 'pinnedChannelId'>,
    headers: IncomingHttpHeaders,
    request: ChatRequest,
  ): CallSession | null | Promise<CallSession> {
    const idleMs = this.deps.idleMs()
    if (idleMs === null || caller.pinnedChannelId !== null) return null
    const found = sessionOf(this.deps.vault, caller, headers, request)
    if (found === null) return null
    const session = { ...found, tokenId: caller.token.tokenId }
    // The first turn of a conversation is routed like a call without a session, so that equal
    // single calls are spread over the channels.
    if (session.isFirstTurn) return new CallSession(this, session, null)
    const entry = this.partitionOf(session).find(session.key, idleMs, performance.now())
    if (entry !== null) return new CallSession(this, session, entry.assignment)
    const pending = this.deps.cache?.get(session.key) ?? null
    if (pending === null) return new CallSession(this, session, null)
    return pending.then((text) => new CallSession(this, session, this.keepFromRedis(session, text)))
  }

  /**
   * Assigns the session to the channel and key of a successful attempt. The first turn of a
   * conversation does not change an assignment that already exists.
   */
  remember(session: SessionOfToken, channelId: number, keyRef: string): void {
    const idleMs = this.deps.idleMs()
    if (idleMs === null || keyRef.length > KEY_REF_LENGTH_MAX) return
    const now = performance.now()
    const partition = this.partitionOf(session)
    const entry = partition.find(session.key, idleMs, now)
    if (entry !== null && isAt(entry.assignment, channelId, keyRef)) {
      entry.usedAt = now
      partition.put(session.key, entry)
      if (now - entry.sharedAt > idleMs / 4) this.writeToRedis(session, entry, idleMs)
      return
    }
    // Conversations with the same first message share one assignment. The first turn of another
    // such conversation must not change it.
    if (entry !== null && session.isFirstTurn) return
    const assignment = { channelId, keyRef, since: this.deps.now() }
    const created = { assignment, usedAt: now, sharedAt: now }
    partition.put(session.key, created)
    if (partition.countShare(idleMs, now)) this.writeToRedis(session, created, idleMs)
  }

  /**
   * Deletes the assignment to this channel and key, unless the session has been assigned to another
   * channel or key in the meantime.
   */
  forget(session: SessionOfToken, channelId: number, keyRef: string): void {
    const partition = this.partitionOf(session)
    const entry = partition.find(session.key, Number.POSITIVE_INFINITY, 0)
    if (entry === null || !isAt(entry.assignment, channelId, keyRef)) return
    partition.remove(session.key)
    this.deps.cache?.remove(session.key)
  }

  /**
   * Returns the channel of an assignment, or null if the offer does not contain the channel or the
   * session should leave it. A session stays at a channel below the highest priority only for the
   * idle time, because channels of a higher priority may have recovered.
   */
  channelAt({ channelId, since }: Assignment, offer: Offer<RelayChannel>): RelayChannel | null {
    const place = placesIn(offer).get(channelId)
    if (place === undefined) return null
    const idleMs = this.deps.idleMs() ?? 0
    return place.tier === 0 || this.deps.now() - since < idleMs ? place.channel : null
  }

  private partitionOf({ isNamed, tokenId }: SessionOfToken): Partition {
    const partitions = isNamed ? this.named : this.unnamed
    return partitions[Math.abs(tokenId) % PARTITIONS] as Partition
  }

  private writeToRedis(session: SessionOfToken, entry: Entry, idleMs: number): void {
    const { channelId, keyRef, since } = entry.assignment
    entry.sharedAt = performance.now()
    const text = `${channelId} ${since} ${keyRef}`
    this.deps.cache?.put(session.key, text, idleMs, session.isFirstTurn)
  }

  /**
   * Parses an assignment from Redis and stores it in this process. Returns null if the text is
   * invalid.
   */
  private keepFromRedis(session: SessionOfToken, text: string | null): Assignment | null {
    const match = /^(\d{1,15}) (\d{1,15}) (.{1,128})$/.exec(text ?? '')
    if (match === null) return null
    const [, channelId, since, keyRef = ''] = match
    const assignment = { channelId: Number(channelId), since: Number(since), keyRef }
    // The entry is not marked as written to Redis, so that the next successful call renews it
    // there.
    const entry = { assignment, usedAt: performance.now(), sharedAt: 0 }
    this.partitionOf(session).put(session.key, entry)
    return assignment
  }
}

/** The channels of an offer by their ids, with the index of their priority. */
const placesIn = oncePerOffer(
  (offer: Offer<RelayChannel>) =>
    new Map(
      offer.flatMap(({ channels }, tier) =>
        channels.map((channel) => [channel.channelId, { channel, tier }] as const),
      ),
    ),
)

const isAt = (assignment: Assignment, channelId: number, keyRef: string): boolean =>
  assignment.channelId === channelId && assignment.keyRef === keyRef

export class CallSession {
  private readonly affinity: SessionAffinity
  private readonly session: SessionOfToken
  private readonly assignment: Assignment | null

  constructor(affinity: SessionAffinity, session: SessionOfToken, assignment: Assignment | null) {
    this.affinity = affinity
    this.session = session
    this.assignment = assignment
  }

  /**
   * Returns the channel to which the session is assigned, or null if there is none or the call
   * should not be sent to it. In the second case, the assignment is deleted.
   */
  channelIn(offer: Offer<RelayChannel>): RelayChannel | null {
    const { assignment } = this
    if (assignment === null) return null
    const channel = this.affinity.channelAt(assignment, offer)
    if (channel === null)
      this.affinity.forget(this.session, assignment.channelId, assignment.keyRef)
    return channel
  }

  /**
   * Returns the reference of the session's key if the session was last served by this channel;
   * otherwise null.
   */
  keyRefAt({ channelId }: RelayChannel): string | null {
    return this.assignment?.channelId === channelId ? this.assignment.keyRef : null
  }

  /**
   * Records the result of an attempt. A success assigns the session to its channel and key. A
   * failure of the provider deletes the session's assignment to this channel and key. A refused
   * request changes nothing.
   */
  note({ channelId }: RelayChannel, { keyRef }: RelayKey, end: AttemptEnd): void {
    const outcome = outcomeOf(end)
    if (outcome === 'nothing') return
    if (outcome !== 'well') this.affinity.forget(this.session, channelId, keyRef)
    else if (end.kind !== 'failed') this.affinity.remember(this.session, channelId, keyRef)
  }
}
