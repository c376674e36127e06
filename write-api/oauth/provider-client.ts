import { request } from 'undici'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { ProviderFailed } from './oauth-provider-types.ts'

export const PROVIDER_LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 8_000,
  bodyTimeoutMs: 8_000,
  maxResponseBytes: 512 * 1_024,
}

const TIME_MS_MAX = 10_000

export type ProviderRequest = {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
}

/**
 * Requests a JSON object from a provider. Throws `ProviderFailed` if the provider can't be reached,
 * if the status is not 200, or if the body is not JSON.
 */
export async function requestProvider(
  outbound: Outbound,
  url: string,
  { method = 'GET', headers = {}, form }: ProviderRequest = {},
): Promise<Readonly<Record<string, unknown>>> {
  const payload = {
    method,
    headers: {
      ...headers,
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
  }
  const { status, text } = await exchange(outbound, url, payload)
  if (status !== 200) throw new ProviderFailed(`answered ${status}`)
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch (error) {
    throw new ProviderFailed('did not answer with JSON', { cause: error })
  }
}

type ExchangeRequest = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Sends a request to a provider. The operator's outbound policy must allow the address. Redirects
 * are not followed.
 */
async function exchange(
  { dispatcher }: Outbound,
  url: string,
  { headers, ...payload }: ExchangeRequest,
) {
  try {
    const answer = await request(url, {
      ...(payload as { method: 'GET' }),
      dispatcher,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        // GitHub rejects requests without a user agent.
        'user-agent': 'Tallygate',
        ...headers,
      },
      signal: AbortSignal.timeout(TIME_MS_MAX),
    })
    const { statusCode: status, headers: received } = answer
    return { status, received, text: await answer.body.text() }
  } catch (error) {
    throw new ProviderFailed('could not be reached', { cause: error })
  }
}

const WITHOUT_BODY = [204, 205, 304]

/**
 * Returns a `fetch` function for the OIDC library. Requests go through the outbound client, so that
 * the outbound policy and limits apply.
 */
export const providerFetch =
  (outbound: Outbound) =>
  async (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
  ): Promise<Response> => {
    const payload = body === undefined || body === null ? {} : { body: String(body) }
    const { status, received, text } = await exchange(outbound, url, {
      method,
      headers,
      ...payload,
    })
    return new Response(WITHOUT_BODY.includes(status) ? null : text, {
      status,
      headers: { 'content-type': String(received['content-type'] ?? '') },
    })
  }
