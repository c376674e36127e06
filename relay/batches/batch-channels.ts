import type { CircuitScope } from '#domain/channel-health/events.ts'
import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import { outcomeOf } from '../channel-health/attempt-outcome.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { ChannelSelector } from '../pipeline/channel-selector.ts'
import type { ChosenKey } from '../pipeline/choose-channel-key.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { noUsableChannelError } from '../pipeline/try-channels-in-order.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'

/** The channel and the key for one attempt to submit a batch or to upload a file. */
export type BatchPlace = ChosenKey & { readonly channel: RelayChannel }

/**
 * Selects the channels and keys to try for a batch or a file, in the order in which calls try them.
 * The caller of this class decides whether another attempt may follow a failure. Each channel that
 * `next` returns must be given back: by `note` after an attempt, or by `skip` if there was no
 * attempt.
 */
export class BatchChannels {
  private readonly deps: RelayDeps
  readonly model: string
  private readonly selector: ChannelSelector
  private readonly used = new Set<RelayKey>()
  private current: BatchPlace | null = null
  private left: number

  /**
   * `channels` must offer the models of all lines. `isPinned` is true if the caller named the
   * channel. Such a channel is tried only once.
   */
  constructor(
    deps: RelayDeps,
    channels: readonly RelayChannel[],
    model: string,
    isPinned: boolean,
  ) {
    this.deps = deps
    this.model = model
    this.selector = new ChannelSelector(deps, offerOf(channels), model, isPinned)
    this.left = isPinned ? 1 : 1 + deps.views.options.options.retryTimes
  }

  /** Returns the next channel and key to try, or null if none is left. */
  async next(): Promise<BatchPlace | null> {
    while (this.left > 0) {
      const channel = await this.selector.next()
      if (channel === null) return null
      const choice = await this.deps.keySelector.choose(channel, this.used)
      if (choice !== null) {
        this.current = { channel, ...choice }
        return this.current
      }
      this.selector.end(true)
    }
    return null
  }

  /** Returns the error for a caller if no channel could be tried. */
  noneUsableError(): RelayError {
    return noUsableChannelError(this.selector, this.model)
  }

  /** Gives back the current channel, if there is one. This does not count as an attempt. */
  skip(): void {
    this.selector.end(true)
    if (this.current !== null) this.deps.breaker.release(this.current.probes)
    this.current = null
  }

  /**
   * Reports how the attempt at the current channel has ended. Only successes and failed connections
   * are reported to circuits, and only to the circuits of the whole channel, because a provider may
   * refuse batches and files while it answers calls. The probes of all other circuits are given
   * back. After a failure that concerns the key, the channel is tried again with another of its
   * keys.
   */
  note(call: string, end: AttemptEnd): void {
    if (this.current === null) throw new Error('there is no attempt at a channel')
    const { channel, key, probes } = this.current
    this.current = null
    this.left -= 1
    this.selector.end(false)
    const { breaker } = this.deps
    const isTelling = end.kind === 'plain' || (end.kind === 'failed' && end.error === 'connect')
    const isReported = (scope: CircuitScope) => isTelling && isOfChannel(scope)
    const all = [...this.selector.probes, ...probes]
    breaker.release(all.filter((scope) => !isReported(scope)))
    const { channelId } = channel
    if (isTelling) {
      const { keyRef } = key
      const reported = all.filter(isReported)
      breaker.note({ channel, keyRef, model: this.model, probes: reported, call }, end)
    }
    const { kind, status } = end
    this.deps.log.debug({ call, channelId, kind, status }, 'an attempt ended')
    const outcome = outcomeOf(end)
    if (typeof outcome === 'string' || outcome.blame !== 'key' || channel.keys.length < 2) return
    this.used.add(key)
    this.selector.retryWithAnotherKey()
  }
}

const isOfChannel = ({ model, keyRef }: CircuitScope): boolean => model === null && keyRef === null
