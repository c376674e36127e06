import type { UpdateTag } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** Changes every channel of a tag; what is left out stays. */
export async function updateTag(change: UpdateTag): Promise<void> {
  await request({ method: 'PUT', path: '/api/channel/tag', body: change })
}

/** Answers how many changed; what has expired is not enabled. */
export async function setTagEnabled(tag: string, isEnabled: boolean): Promise<number> {
  const path = isEnabled ? '/api/channel/tag/enabled' : '/api/channel/tag/disabled'
  return (await request<number>({ method: 'POST', path, body: { tag } })).data
}
