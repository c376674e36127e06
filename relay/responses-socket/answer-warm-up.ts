import { resolveModelSuffix } from '../adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { authenticate } from '../pipeline/authenticate.ts'
import { type Exchange, newCallId } from '../pipeline/http-exchange.ts'
import { accessError } from '../pipeline/model-access-errors.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'

/**
 * Checks a warm-up, which is a message that only prepares a call. Returns an error if the caller
 * may not call the model now. Otherwise, returns null.
 */
export async function warmUpError(
  deps: Pick<RelayDeps, 'views' | 'vault' | 'failedKeys'>,
  { request, clientIp, startedAt }: Exchange,
  name: string,
): Promise<RelayError | null> {
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return caller
  const { channels, options } = deps.views
  const resolved = resolveModelSuffix({ model: name }, channels, options.options.adapters)
  const error = accessError(caller, options.options, resolved)
  if (error !== null) return error
  if (caller.pinnedChannelId !== null || channels.isKnown(resolved.model)) return null
  return relayError('model_not_found', { param: 'model', subject: name })
}

/** Returns the id and the events of the empty response that answers a warm-up. */
export function warmUpEvents(model: string): readonly [id: string, events: readonly object[]] {
  const now = Date.now()
  const id = `resp_${newCallId(now).replaceAll('-', '')}`
  const response = {
    ...{ id, object: 'response', created_at: Math.floor(now / 1_000), model },
    ...{ error: null, incomplete_details: null, output: [] },
  }
  const begun = { ...response, status: 'in_progress', usage: null }
  const ended = { ...response, status: 'completed', usage: NO_TOKENS }
  const events = [
    { type: 'response.created', sequence_number: 0, response: begun },
    { type: 'response.completed', sequence_number: 1, response: ended },
  ]
  return [id, events]
}

const NO_TOKENS = {
  ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
}
