import type { Outbound } from '#infra/outbound/dispatcher.ts'
import { fetchJson } from '../fetch-json.ts'

export type Release = { readonly version: string; readonly notes: string }

const VERSION_LENGTH_MAX = 100
const NOTES_LENGTH_MAX = 20_000

/** What the address says of the latest release; null when it can't be had or says nothing. */
export async function fetchRelease(outbound: Outbound, url: string): Promise<Release | null> {
  return releaseOf(await fetchJson(outbound, url))
}

function releaseOf(answer: unknown): Release | null {
  const { tag_name: version, body: notes } = Object(answer) as Record<string, unknown>
  if (typeof version !== 'string' || version.trim() === '') return null
  return {
    version: version.trim().slice(0, VERSION_LENGTH_MAX),
    notes: typeof notes === 'string' ? notes.slice(0, NOTES_LENGTH_MAX) : '',
  }
}
