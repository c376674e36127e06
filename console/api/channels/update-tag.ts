import type { UpdateTag } from '#write-api/contract/channel.ts'
import { request } from '../request.ts'

/** Changes every channel of a tag; what is left out stays. */
export async function updateTag(change: UpdateTag): Promise<void> {
  await request({ method: 'PUT', path: '/api/channel/tag', body: change })
}

export async function setTagEnabled(tag: string, isEnabled: boolean): Promise<void> {
  const path = isEnabled ? '/api/channel/tag/enabled' : '/api/channel/tag/disabled'
  await request({ method: 'POST', path, body: { tag } })
}
