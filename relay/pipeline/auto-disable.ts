import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import type { Core } from '#infra/core.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import type { Views } from '#relay/views/views.ts'
import { accountFaultOf } from './account-fault.ts'
import type { AttemptEnd } from './call-upstream.ts'

/** An account without money may have some again soon: the channel stays. */
const PASSING = 'status-402'

type Parts = Pick<Core, 'actors' | 'log' | 'now'> & { readonly views: Views }

/**
 * Turns a channel off when its provider says that our key or account is no good. Told by the
 * status and by structured codes alone: words may echo a prompt, and then any caller could turn
 * channels off. Never the last one of a model and group, and only where admins asked for it.
 */
export function autoDisable(
  { actors, log, now, views }: Parts,
  channel: RelayChannel,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
  call: string,
): void {
  if (!views.options.options.isAutoDisabling || !channel.terms.isAutoBan) return
  const reason = accountFaultOf(end)
  if (reason === null || reason === PASSING || views.channels.isLastOfSomething(channel)) return
  const context = { actor: 'system:relay', cause: call, at: now() }
  const command = { type: 'AutoDisableChannel', reason } as const
  actors
    .handle(channelDecider, channelStream(channel.channelId), command, context)
    .catch((err: unknown) =>
      log.warn({ err, channelId: channel.channelId }, 'could not turn the channel off'),
    )
}
