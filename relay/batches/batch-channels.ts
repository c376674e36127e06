import type { CircuitScope } from '#domain/channel-health/events.ts'
import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { providerErrorCodes } from '#relay/canonical/read-provider-error-body.ts'
import type { RelayError } from '../canonical/relay-error.ts'
import { outcomeOf } from '../channel-health/attempt-outcome.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import type { AttemptContext } from '../pipeline/auto-disable-channel.ts'
import { ChannelSelector } from '../pipeline/channel-selector.ts'
import type { ChosenKey } from '../pipeline/choose-channel-key.ts'
import { accountErrorOf, STATUS_FORBIDDEN } from '../pipeline/detect-provider-account-error.ts'
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
  private readonly userId: number
  private readonly selector: ChannelSelector
  private readonly used = new Set<RelayKey>()
  private current: BatchPlace | null = null
  private left: number

  /**
   * `channels` must offer the models of all lines. A channel that the caller named is tried only
   * once.
   */
  constructor(
    deps: RelayDeps,
    channels: readonly RelayChannel[],
    model: string,
    { user: { userId }, pinnedChannelId }: Pick<Caller, 'user' | 'pinnedChannelId'>,
  ) {
    const isPinned = pinnedChannelId !== null
    this.deps = deps
    this.model = model
    this.userId = userId
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
   * back. Rejections of the key are reported to `autoDisable` (see `noteKeyRejection`). After a
   * failure that concerns the key, the channel is tried again with another of its keys.
   * `requestBody` is null if the request is not in memory.
   */
  note(call: string, end: AttemptEnd, requestBody: Buffer | null): void {
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
    const { userId } = this
    noteKeyRejection(this.deps, { channel, key, call, userId, requestBody }, end)
    const { kind, status } = end
    this.deps.log.debug({ call, channelId, kind, status }, 'an attempt ended')
    const outcome = outcomeOf(end)
    if (typeof outcome === 'string' || outcome.blame !== 'key' || channel.keys.length < 2) return
    this.used.add(key)
    this.selector.retryWithAnotherKey()
  }
}

/** The code with which OpenAI refuses a key that may use other parts of the API. */
const MISSING_SCOPE = 'missing_scope'

/**
 * Reports an attempt to submit a batch or to upload a file to `autoDisable`, which disables a key
 * that the provider rejects. A rejection that may concern only batches and files is not reported,
 * because the key may be allowed to make calls. Such a rejection has the status 403 without a known
 * code, or names a missing permission.
 */
export function noteKeyRejection(
  { autoDisable }: Pick<RelayDeps, 'autoDisable'>,
  attempt: AttemptContext,
  end: AttemptEnd,
): void {
  if (end.kind === 'failed') {
    const isForbidden = accountErrorOf(end) === STATUS_FORBIDDEN
    if (isForbidden || providerErrorCodes(end.body).includes(MISSING_SCOPE)) return
  }
  autoDisable.note(attempt, end)
}

const isOfChannel = ({ model, keyRef }: CircuitScope): boolean => model === null && keyRef === null
