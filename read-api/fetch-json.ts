import { request } from 'undici'
import type { Outbound } from '#infra/outbound/dispatcher.ts'

const TIME_MAX_MS = 10_000

/** What the address answers with 200; null when it can't be had, or is no JSON. Never rejects. */
export async function fetchJson({ dispatcher }: Outbound, url: string): Promise<unknown> {
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        // Code hosts refuse callers without a name.
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
