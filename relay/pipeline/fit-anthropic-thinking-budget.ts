import { parsedObject } from '#relay/canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'

/** The smallest thinking budget, in tokens, that Anthropic accepts. */
const BUDGET_MIN = 1_024
/** The largest share of the output limit that may be used for thinking. */
const SHARE_MAX = 0.95
const THINKING_BYTES_MAX = 4_096
const DISABLED = '{"type":"disabled"}'

/** The members to set in a request, as JSON texts by name. */
type Overrides = ReadonlyMap<string, string>

/**
 * Fits the thinking budget of a request in Anthropic's format to the output limit that is sent, if
 * the budget is not below this limit. Anthropic refuses a budget that is not below the limit. A
 * budget is left unchanged if the request has its own limit and this limit was not lowered. Returns
 * the overrides with a new member `thinking`, or the same overrides if nothing has to change. The
 * new budget is the same share of the sent limit as the old budget was of the request's limit, but
 * at most `SHARE_MAX`. If the site's default or an override leaves no room for the smallest budget,
 * thinking is turned off. If the account's quota leaves no room for the smallest budget, an error
 * is returned.
 */
export function withFittingBudget(
  request: ChatRequest,
  overrides: Overrides,
  limit: number | null,
): Overrides | RelayError {
  if (request.format.name !== 'messages') return overrides
  const own = request.outputTokensMax
  const requested = Number(overrides.get('max_tokens')) || own
  const sent = limit === null ? requested : Math.min(requested ?? limit, limit)
  // If the gateway has not lowered the limit, the budget is the caller's own choice.
  if (sent === null || (own !== null && own <= sent)) return overrides
  const thinking = thinkingOf(request, overrides)
  const budget = thinking?.budget_tokens
  if (typeof budget !== 'number' || budget < sent) return overrides
  if (sent <= BUDGET_MIN) {
    const isQuota = requested !== null && sent < requested
    if (isQuota) return relayError('insufficient_quota')
    return new Map([...overrides, ['thinking', DISABLED]])
  }
  const share = Math.min(SHARE_MAX, own === null ? SHARE_MAX : budget / own)
  const fitting = Math.max(BUDGET_MIN, Math.floor(sent * share))
  const text = JSON.stringify({ ...thinking, budget_tokens: fitting })
  return new Map([...overrides, ['thinking', text]])
}

function thinkingOf({ body, members }: ChatRequest, overrides: Overrides) {
  const override = overrides.get('thinking')
  if (override !== undefined) return parsedObject(override)
  const member = members.find(({ key }) => key === 'thinking')
  if (member?.kind !== 'object') return null
  const { valueStart, valueEnd } = member
  if (valueEnd - valueStart > THINKING_BYTES_MAX) return null
  return parsedObject(body.toString('utf8', valueStart, valueEnd))
}
