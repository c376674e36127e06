import { providerErrorFields } from '#relay/dialects/openai-chat/error-body.ts'
import { accountFaultOf } from '#relay/pipeline/account-fault.ts'
import type { AttemptEnd } from '#relay/pipeline/call-upstream.ts'
import { isEcho } from './echo.ts'

type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

/** An account without money may have some again soon: the channel stays. */
const PASSING = 'status-402'

/**
 * Why the provider will have no more of our key or account, as a code; null when it is not that.
 * `requestBody` is what was sent: words of an error that stand in it too are taken for an echo, or
 * any caller could turn channels off.
 */
export function accountTroubleOf(
  end: Failed,
  keywords: readonly string[],
  requestBody: Buffer,
): string | null {
  const reason = accountFaultOf(end)
  if (reason !== null) return reason === PASSING ? null : reason
  if (keywords.length === 0 || (end.error !== 'status' && end.error !== 'error-event')) return null
  const { code, type, message } = providerErrorFields(end.body)
  for (const keyword of keywords) {
    if ([code, type].some((field) => field.toLowerCase().includes(keyword))) {
      return `keyword:${keyword}`
    }
    const at = message.toLowerCase().indexOf(keyword)
    if (at < 0) continue
    const said = message.slice(at, at + keyword.length)
    if (!isEcho(said, requestBody)) return `keyword:${keyword}`
  }
  return null
}
