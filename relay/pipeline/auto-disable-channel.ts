import type { AutoDisableChannel, SetKeyAside, Substitutes } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Views } from '#relay/views/start-views.ts'
import {
  AccountRejectionCounts,
  disablingFailureCode,
} from '../channel-health/count-account-rejections.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import type { AttemptEnd } from './attempt-end-types.ts'

type Deps = Pick<Core, 'actors' | 'log' | 'now'> & { readonly views: Views }

export type AttemptContext = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly call: string
  readonly userId: number
  /** The request as it was sent. Null if it is not in memory. */
  readonly requestBody: Buffer | null
}

type RejectedKey = { readonly channel: RelayChannel; readonly keyRef: string }

/**
 * Disables a channel or one of its keys if the provider rejects the site's key or account too
 * often. Also disables a channel that is too slow in tests. A rejection is recognized by its
 * status, its error code or an admin's keywords, never by text from models or callers. A channel
 * stays enabled if it is the only one that serves one of its models to one of its groups. The
 * feature is off until an admin turns it on.
 */
export class ChannelAutoDisabler {
  private readonly deps: Deps
  private readonly rejections = new AccountRejectionCounts()

  constructor(deps: Deps) {
    this.deps = deps
  }

  /** Records the result of an attempt. Returns true if it was counted as a rejection. */
  note({ channel, key, call, userId, requestBody }: AttemptContext, end: AttemptEnd): boolean {
    const { keyRef } = key
    if (end.kind !== 'failed') {
      if (end.kind === 'plain' || end.error === null) this.rejections.succeed(keyRef)
      return false
    }
    const { views } = this.deps
    const { disable } = views.options.options.health
    if (!disable.isEnabled || !channel.terms.isAutoBan) return false
    const reason = disablingFailureCode(end, disable.keywords, requestBody)
    if (reason === null) return false
    const noted = this.rejections.note(keyRef, { reason, userId, now: performance.now() }, disable)
    if (noted.isLimitReached) this.disableKey({ channel, keyRef }, reason, call)
    return noted.isCounted
  }

  /**
   * Disables a channel with all its keys, for example because the channel is too slow. Does nothing
   * if the channel's terms forbid this (`isAutoBan`).
   */
  disableChannel(channel: RelayChannel, reason: string, cause: string | null): void {
    const { channelId, terms } = channel
    if (!terms.isAutoBan) return
    const substitutes = this.substitutesOf(channel)
    this.execute({ type: 'AutoDisableChannel', channelId, reason, substitutes }, cause)
  }

  /**
   * Disables the rejected key. If this key is the channel's last usable key, the channel is
   * disabled. `cause` is the id of the call or test in which the provider rejected the key.
   */
  private disableKey({ channel, keyRef }: RejectedKey, reason: string, cause: string): void {
    const { channelId } = channel
    const substitutes = this.substitutesOf(channel)
    this.execute({ type: 'SetKeyAside', channelId, keyRef, reason, substitutes }, cause)
  }

  private substitutesOf(channel: RelayChannel): Substitutes {
    const { now, views } = this.deps
    return views.channels.substitutesOf(channel, now())
  }

  private execute(command: SetKeyAside | AutoDisableChannel, cause: string | null): void {
    const { actors, log, now } = this.deps
    const context = { actor: 'system:relay', cause, at: now() }
    const { channelId } = command
    actors.handle(channelsDecider, CHANNELS_STREAM, command, context).catch((err: unknown) => {
      log.warn({ err, channelId }, 'a channel or key could not be disabled')
    })
  }
}
