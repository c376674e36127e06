import type { IncomingHttpHeaders } from 'node:http'
import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import type { SharedCache } from '#infra/redis/shared-cache.ts'
import type { Vault } from '#infra/vault/port.ts'
import { outcomeOf } from '../channel-health/attempt-outcome.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import type { Caller } from './authenticate.ts'
import { type Session, sessionOf } from './recognize-session-of-request.ts'

/** The channel and key that served a session last. */
type Place = {
  readonly channelId: number
  readonly keyRef: string
  /** The time since which this channel and key have served the session, in Unix milliseconds. */
  readonly since: number
}

/**
 * A remembered place. `sharedAt` is the time of the last write to Redis. Both times are on the
 * clock of `performance.now()`.
 */
type Entry = { readonly place: Place; usedAt: number; sharedAt: number }

const PARTITIONS = 8
const NAMED_PER_PARTITION_MAX = 8_192
const UNNAMED_PER_PARTITION_MAX = 4_096
/**
 * The maximum length of a key reference that is remembered. With this limit, an entry takes up to
 * 400 bytes, so all entries together take less than 40 MB.
 */
const KEY_REF_LENGTH_MAX = 128

/**
 * Holds a part of the remembered sessions. When it is full, the least recently used session is
 * removed.
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
   * Counts a place that is about to be written to Redis, where it stays for `idleMs`. Returns false
   * if there are too many, so that a caller with a new id in each call can't fill Redis.
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
  /** The places that all processes share; null without Redis. */
  readonly cache: SharedCache | null
  /** The time after which an idle session is forgotten. Null if session affinity is turned off. */
  readonly idleMs: () => number | null
  readonly now: () => number
}

/**
 * Sends each call of a session to the channel and key that served the session last (its place).
 * This saves cost, because providers cache prompts for each account. A place is only a hint: its
 * channel is used only if the call may be sent to it anyway. Places are kept in this process and,
 * if there is Redis, shared with all processes.
 */
export class SessionAffinity {
  private readonly deps: Deps
  /**
   * All sessions of a token are in one partition, so that a token with many sessions can't replace
   * those of most other tokens.
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
   * Finds the session of a call and its place. Returns null if the call belongs to no session. The
   * result is a promise only if this process does not know the session and Redis must be asked.
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
    if (entry !== null) return new CallSession(this, session, entry.place)
    const pending = this.deps.cache?.get(session.key) ?? null
    if (pending === null) return new CallSession(this, session, null)
    return pending.then((text) => new CallSession(this, session, this.keepFromRedis(session, text)))
  }

  /** Remembers the place of a successful attempt. */
  remember(session: SessionOfToken, channelId: number, keyRef: string): void {
    const idleMs = this.deps.idleMs()
    if (idleMs === null || keyRef.length > KEY_REF_LENGTH_MAX) return
    const now = performance.now()
    const partition = this.partitionOf(session)
    const entry = partition.find(session.key, idleMs, now)
    if (entry !== null && isAt(entry.place, channelId, keyRef)) {
      entry.usedAt = now
      partition.put(session.key, entry)
      if (now - entry.sharedAt > idleMs / 4) this.writeToRedis(session, entry, idleMs)
      return
    }
    // Conversations with the same first message share a place, which a new one must not change.
    if (entry !== null && session.isFirstTurn) return
    const place = { channelId, keyRef, since: this.deps.now() }
    const created = { place, usedAt: now, sharedAt: now }
    partition.put(session.key, created)
    if (partition.countShare(idleMs, now)) this.writeToRedis(session, created, idleMs)
  }

  /** Forgets a place, unless the session has another place by now. */
  forget(session: SessionOfToken, channelId: number, keyRef: string): void {
    const partition = this.partitionOf(session)
    const entry = partition.find(session.key, Number.POSITIVE_INFINITY, 0)
    if (entry === null || !isAt(entry.place, channelId, keyRef)) return
    partition.remove(session.key)
    this.deps.cache?.remove(session.key)
  }

  /**
   * Returns the channel of a place, or null if the offer does not contain it. A session stays at a
   * channel of lower priority only for the idle time, because better channels may have recovered.
   */
  channelAt({ channelId, since }: Place, offer: Offer<RelayChannel>): RelayChannel | null {
    for (const [tier, { channels }] of offer.entries()) {
      const channel = channels.find((candidate) => candidate.channelId === channelId)
      if (channel === undefined) continue
      const idleMs = this.deps.idleMs() ?? 0
      return tier === 0 || this.deps.now() - since < idleMs ? channel : null
    }
    return null
  }

  private partitionOf({ isNamed, tokenId }: SessionOfToken): Partition {
    const partitions = isNamed ? this.named : this.unnamed
    return partitions[Math.abs(tokenId) % PARTITIONS] as Partition
  }

  private writeToRedis(session: SessionOfToken, entry: Entry, idleMs: number): void {
    const { channelId, keyRef, since } = entry.place
    entry.sharedAt = performance.now()
    const text = `${channelId} ${since} ${keyRef}`
    this.deps.cache?.put(session.key, text, idleMs, session.isFirstTurn)
  }

  /** Reads a place from Redis and keeps it in this process. */
  private keepFromRedis(session: SessionOfToken, text: string | null): Place | null {
    const match = /^(\d{1,15}) (\d{1,15}) (.{1,128})$/.exec(text ?? '')
    if (match === null) return null
    const [, channelId, since, keyRef = ''] = match
    const place = { channelId: Number(channelId), since: Number(since), keyRef }
    // Only a successful call renews the place in Redis, so it is not marked as shared.
    const entry = { place, usedAt: performance.now(), sharedAt: 0 }
    this.partitionOf(session).put(session.key, entry)
    return place
  }
}

const isAt = (place: Place, channelId: number, keyRef: string): boolean =>
  place.channelId === channelId && place.keyRef === keyRef

/** The session of one call. */
export class CallSession {
  private readonly affinity: SessionAffinity
  private readonly session: SessionOfToken
  private readonly place: Place | null

  constructor(affinity: SessionAffinity, session: SessionOfToken, place: Place | null) {
    this.affinity = affinity
    this.session = session
    this.place = place
  }

  /** Returns the session's channel if the call may be sent to it anyway; otherwise null. */
  channelIn(offer: Offer<RelayChannel>): RelayChannel | null {
    const { place } = this
    if (place === null) return null
    const channel = this.affinity.channelAt(place, offer)
    if (channel === null) this.affinity.forget(this.session, place.channelId, place.keyRef)
    return channel
  }

  /**
   * Returns the reference of the session's key if the session was last served by this channel;
   * otherwise null.
   */
  keyRefAt({ channelId }: RelayChannel): string | null {
    return this.place?.channelId === channelId ? this.place.keyRef : null
  }

  /**
   * Records the result of an attempt. A success makes its channel and key the session's place. A
   * failure of the provider releases the place. A refused request changes nothing.
   */
  note({ channelId }: RelayChannel, { keyRef }: RelayKey, end: AttemptEnd): void {
    const outcome = outcomeOf(end)
    if (outcome === 'nothing') return
    if (outcome !== 'well') this.affinity.forget(this.session, channelId, keyRef)
    else if (end.kind !== 'failed') this.affinity.remember(this.session, channelId, keyRef)
  }
}
