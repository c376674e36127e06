import { createHmac, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { errors, request } from 'undici'
import type { Outbound, OutboundLimits } from '#infra/outbound/outbound-connections.ts'
import { webhookAddress } from '#infra/outbound/webhook-checks.ts'

export type Webhook = {
  readonly url: string
  /**
   * The bearer token, which is also the key of the signature. If it is null, requests have neither
   * a bearer token nor a signature.
   */
  readonly secret: string | null
  /** The id of the event. All attempts to deliver one warning send the same id. */
  readonly eventId: string
  readonly body: object
}

const ATTEMPTS_MAX = 3
const ATTEMPT_MS_MAX = 5_000
const PAUSE_MS = 1_000
const ANSWER_BYTES_MAX = 4_096

/**
 * The limits of requests to webhooks. The size of the response is not limited, because each attempt
 * has a time limit and reads only the beginning of the response.
 */
export const WEBHOOK_LIMITS: OutboundLimits = {
  connectTimeoutMs: ATTEMPT_MS_MAX,
  headersTimeoutMs: ATTEMPT_MS_MAX,
  bodyTimeoutMs: ATTEMPT_MS_MAX,
  maxResponseBytes: -1,
}

/**
 * Posts JSON to an https address that a user entered. Returns true if the receiver accepts the
 * request. Returns false if no attempt succeeds, or if the outbound policy for users forbids the
 * address. There are up to three attempts of 5 s each, with increasing pauses. A response that a
 * repetition would not change, such as 404, ends the attempts. `stop` ends them too.
 */
export async function sendWebhook(
  outbound: Pick<Outbound, 'dispatcher'>,
  hook: Webhook,
  { now, stop }: { readonly now: () => number; readonly stop: AbortSignal },
): Promise<boolean> {
  // The address is checked again, because the rules may have changed since the address was saved.
  if (webhookAddress(hook.url) === null) return false
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const outcome = await attemptDelivery(outbound, hook, now())
    if (outcome !== 'retry') return outcome === 'accepted'
    const pauseMs = randomInt(PAUSE_MS / 2, PAUSE_MS * 1.5) * 2 ** (attempt - 1)
    if (attempt < ATTEMPTS_MAX) await delay(pauseMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return false
  }
  return false
}

type AttemptResult = 'accepted' | 'rejected' | 'retry'

async function attemptDelivery(
  { dispatcher }: Pick<Outbound, 'dispatcher'>,
  { url, secret, eventId, body }: Webhook,
  nowMs: number,
): Promise<AttemptResult> {
  const text = JSON.stringify(body)
  try {
    const answer = await request(url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'Tallygate',
        'x-gw-event-id': eventId,
        ...(secret === null ? {} : authenticationHeaders(secret, text, nowMs)),
      },
      body: text,
      signal: AbortSignal.timeout(ATTEMPT_MS_MAX),
    })
    // The beginning of the response is read, so that the connection can be reused.
    await answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => {})
    const { statusCode } = answer
    if (statusCode >= 200 && statusCode < 300) return 'accepted'
    return statusCode >= 500 || statusCode === 429 || statusCode === 408 ? 'retry' : 'rejected'
  } catch (error) {
    // An old secret may contain characters that a header must not contain. Another attempt would
    // fail, too.
    if (error instanceof errors.InvalidArgumentError) throw error
    return 'retry'
  }
}

/**
 * Returns the headers that authenticate the webhook. In the signature, `t` is the time in Unix
 * seconds, and `v1` is the HMAC-SHA256 of the text `<t>.<body>` in hex.
 */
function authenticationHeaders(
  secret: string,
  text: string,
  nowMs: number,
): Record<string, string> {
  const t = Math.floor(nowMs / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')
  return { authorization: `Bearer ${secret}`, 'x-gw-signature': `t=${t},v1=${v1}` }
}
