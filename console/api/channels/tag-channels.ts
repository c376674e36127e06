import { request } from '../request.ts'

/** Gives the channels one tag, or takes theirs off by null; all or none. */
export async function tagChannels(ids: readonly number[], tag: string | null): Promise<void> {
  await request({ method: 'POST', path: '/api/channel/batch/tag', body: { ids, tag } })
}
