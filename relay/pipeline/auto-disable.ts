import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import type { Core } from '#infra/core.ts'
import { providerErrorCode } from '#relay/dialects/openai-chat/error-body.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import type { Views } from '#relay/views/views.ts'
import type { AttemptEnd } from './call-upstream.ts'

const STATUSES = new Set([401, 403])
const CODES = new Set([
  'account_deactivated',
  'billing_hard_limit_reached',
  'billing_not_active',
  'insufficient_quota',
  'invalid_api_key',
])

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
  const reason = reasonOf(end)
  if (reason === null || views.channels.isLastOfSomething(channel)) return
  const context = { actor: 'system:relay', cause: call, at: now() }
  const command = { type: 'AutoDisableChannel', reason } as const
  actors
    .handle(channelDecider, channelStream(channel.channelId), command, context)
    .catch((err: unknown) =>
      log.warn({ err, channelId: channel.channelId }, 'could not turn the channel off'),
    )
}

function reasonOf(end: Extract<AttemptEnd, { readonly kind: 'failed' }>): string | null {
  if (end.error !== 'status' || end.status === null || end.status < 400) return null
  const code = providerErrorCode(end.body)
  if (code !== null && CODES.has(code)) return code
  return STATUSES.has(end.status) ? `status-${end.status}` : null
}
