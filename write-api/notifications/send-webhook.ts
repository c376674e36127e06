import { createHmac, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { errors, request } from 'undici'
import type { Outbound, OutboundLimits } from '#infra/outbound/dispatcher.ts'
import { webhookAddress } from '#infra/outbound/webhook.ts'

export type Webhook = {
  readonly url: string
  /** Sent as the bearer, and what the body is signed with; null: neither. */
  readonly secret: string | null
  /** Of the event it is about: the same at every try. */
  readonly eventId: string
  readonly body: object
}

const TRIES = 3
const TRY_MS_MAX = 5_000
const PAUSE_MS = 1_000
const ANSWER_BYTES_MAX = 4_096

/** Of each connection; the time of a try is watched as a whole, and what is said is cut. */
export const WEBHOOK_LIMITS: OutboundLimits = {
  connectTimeoutMs: TRY_MS_MAX,
  headersTimeoutMs: TRY_MS_MAX,
  bodyTimeoutMs: TRY_MS_MAX,
  maxResponseBytes: -1,
}

/**
 * Posts JSON to an address that a user entered: https, the user policy, no redirects, 5 s a try,
 * three tries with growing pauses. Answers whether it was taken. `stop` ends the tries.
 */
export async function sendWebhook(
  outbound: Pick<Outbound, 'dispatcher'>,
  hook: Webhook,
  { now, stop }: { readonly now: () => number; readonly stop: AbortSignal },
): Promise<boolean> {
  // Judged at use as well: what was saved long ago may not be allowed any more.
  if (webhookAddress(hook.url) === null) return false
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const outcome = await tryOnce(outbound, hook, now())
    if (outcome !== 'again') return outcome === 'taken'
    const pauseMs = randomInt(PAUSE_MS / 2, PAUSE_MS * 1.5) * 2 ** (attempt - 1)
    if (attempt < TRIES) await delay(pauseMs, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return false
  }
  return false
}

type Tried = 'taken' | 'refused' | 'again'

async function tryOnce(
  { dispatcher }: Pick<Outbound, 'dispatcher'>,
  { url, secret, eventId, body }: Webhook,
  nowMs: number,
): Promise<Tried> {
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
        ...(secret === null ? {} : signed(secret, text, nowMs)),
      },
      body: text,
      signal: AbortSignal.timeout(TRY_MS_MAX),
    })
    // What it says beside its status is nobody's: read a little, so that it isn't cut off.
    await answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => {})
    const { statusCode } = answer
    if (statusCode >= 200 && statusCode < 300) return 'taken'
    return statusCode >= 500 || statusCode === 429 || statusCode === 408 ? 'again' : 'refused'
  } catch (error) {
    // A secret of old that no header takes: that is told by its name, and stays so at every try.
    if (error instanceof errors.InvalidArgumentError) throw error
    return 'again'
  }
}

/** `t` in unix seconds; `v1` the HMAC-SHA256 of `t.body`, hex. */
function signed(secret: string, text: string, nowMs: number): Record<string, string> {
  const t = Math.floor(nowMs / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')
  return { authorization: `Bearer ${secret}`, 'x-gw-signature': `t=${t},v1=${v1}` }
}
