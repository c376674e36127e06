import type { CircuitScope } from '#domain/channel-health/events.ts'
import type { CircuitBreaker, KeyHealth } from '../channel-health/circuit-breaker.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'

/**
 * A key for one attempt. If the attempt tests a key that failed before, `probes` contains the key's
 * circuit.
 */
export type ChosenKey = { readonly key: RelayKey; readonly probes: readonly CircuitScope[] }

/** The keys that an attempt may use. `isFirst` is true if no key of the channel was used before. */
type KeysOfAttempt = { readonly keys: readonly RelayKey[]; readonly isFirst: boolean }

type KeyHealthReader = Pick<CircuitBreaker, 'areAllKeysFree' | 'keyHealthOf' | 'enterKey'>

const ALL = { has: () => true }
const NONE: ReadonlySet<RelayKey> = new Set()
const NO_PROBES: readonly CircuitScope[] = []

/**
 * Chooses a key of a channel for each attempt. As a rule, a key with the health `out` (see
 * `KeyHealth`) is chosen only for the first attempt at a channel whose keys all have this health.
 */
export class KeySelector {
  /** The index of the next key in rotation, by channel id. */
  private readonly nextIndexes = new Map<number, number>()
  private readonly keyHealth: KeyHealthReader
  private readonly random: () => number

  constructor(keyHealth: KeyHealthReader, random: () => number = Math.random) {
    this.keyHealth = keyHealth
    this.random = random
  }

  /**
   * Returns a key that is not in `used`, or null if there is none. Also returns null if `used` has
   * a key and all keys that are left have the health `out`. The result is a promise only if the
   * circuit of the chosen key must be probed. `preferredRef` is the key of the call's session. This
   * key is chosen if calls may use it without a probe.
   */
  choose(
    channel: RelayChannel,
    used: ReadonlySet<RelayKey> = NONE,
    preferredRef: string | null = null,
  ): ChosenKey | null | Promise<ChosenKey | null> {
    const keys = used.size === 0 ? channel.keys : channel.keys.filter((key) => !used.has(key))
    const preferred =
      preferredRef === null ? undefined : keys.find(({ keyRef }) => keyRef === preferredRef)
    if (preferred !== undefined && this.healthOf(channel, preferred) === 'free') {
      return withoutProbes(preferred)
    }
    if (this.keyHealth.areAllKeysFree) return withoutProbes(this.pickKey(channel, keys))
    return this.chooseFit(channel, { keys, isFirst: used.size === 0 }, keys)
  }

  /**
   * Chooses one of `candidates` that does not have the health `out`. If none is left, a first
   * attempt uses any key of the attempt.
   */
  private chooseFit(
    channel: RelayChannel,
    attempt: KeysOfAttempt,
    candidates: readonly RelayKey[],
  ): ChosenKey | null | Promise<ChosenKey | null> {
    const fit = candidates.filter((key) => this.healthOf(channel, key) !== 'out')
    if (fit.length === 0) {
      return attempt.isFirst ? withoutProbes(this.pickKey(channel, attempt.keys)) : null
    }
    const key = this.pickKey(channel, fit)
    if (key !== null && this.healthOf(channel, key) === 'due') {
      return this.probeKey(channel, attempt, fit, key)
    }
    return withoutProbes(key)
  }

  /** Probes a key. If another call already probes it, chooses one of the others in `fit`. */
  private async probeKey(
    channel: RelayChannel,
    attempt: KeysOfAttempt,
    fit: readonly RelayKey[],
    key: RelayKey,
  ): Promise<ChosenKey | null> {
    const scope = { channelId: channel.channelId, model: null, keyRef: key.keyRef }
    if (await this.keyHealth.enterKey(scope)) return { key, probes: [scope] }
    const others = fit.filter((other) => other !== key)
    return this.chooseFit(channel, attempt, others)
  }

  private healthOf({ channelId }: RelayChannel, { keyRef }: RelayKey): KeyHealth {
    return this.keyHealth.keyHealthOf(channelId, keyRef)
  }

  private pickKey(channel: RelayChannel, keys: readonly RelayKey[]): RelayKey | null {
    if (channel.keys.length < 2) return keys[0] ?? null
    if (channel.keyMode === 'polling') return this.nextInRotation(channel, keys)
    return keys[Math.floor(this.random() * keys.length)] ?? null
  }

  /** Returns the next key in the channel's rotation that is in `fit`. */
  private nextInRotation(
    { channelId, keys }: RelayChannel,
    fit: readonly RelayKey[],
  ): RelayKey | null {
    const isFit = fit === keys ? ALL : new Set(fit)
    let index = (this.nextIndexes.get(channelId) ?? 0) % keys.length
    for (let left = keys.length; left > 0; left -= 1) {
      const key = keys[index]
      index = (index + 1) % keys.length
      if (key === undefined || !isFit.has(key)) continue
      this.nextIndexes.set(channelId, index)
      return key
    }
    return null
  }
}

const withoutProbes = (key: RelayKey | null): ChosenKey | null =>
  key === null ? null : { key, probes: NO_PROBES }
