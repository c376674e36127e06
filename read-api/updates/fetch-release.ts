import { request } from 'undici'
import type { Outbound } from '#infra/outbound/dispatcher.ts'

export type Release = { readonly version: string; readonly notes: string }

const TIME_MAX_MS = 10_000
const VERSION_LENGTH_MAX = 100
const NOTES_LENGTH_MAX = 20_000

/** What the address says of the latest release; null when it can't be had or says nothing. */
export async function fetchRelease({ dispatcher }: Outbound, url: string): Promise<Release | null> {
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
    if (statusCode === 200) return releaseOf(JSON.parse(await body.text()))
    await body.dump()
    return null
  } catch {
    return null
  }
}

function releaseOf(answer: unknown): Release | null {
  const { tag_name: version, body: notes } = Object(answer) as Record<string, unknown>
  if (typeof version !== 'string' || version.trim() === '') return null
  return {
    version: version.trim().slice(0, VERSION_LENGTH_MAX),
    notes: typeof notes === 'string' ? notes.slice(0, NOTES_LENGTH_MAX) : '',
  }
}
