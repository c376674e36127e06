import { request } from 'undici'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'

const TIME_MAX_MS = 10_000

/**
 * Requests a URL and returns the parsed JSON. Returns null if the request fails, the status is not
 * 200 or the JSON is invalid. Never rejects.
 */
export async function fetchJson({ dispatcher }: Outbound, url: string): Promise<unknown> {
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        // Some hosts, such as GitHub, reject requests without a user agent.
        'user-agent': 'Tallygate',
      },
      signal: AbortSignal.timeout(TIME_MAX_MS),
    })
    if (statusCode === 200) return JSON.parse(await body.text())
    await body.dump()
    return null
  } catch {
    return null
  }
}
