import { request } from '../request.ts'

export async function deleteChannel(id: number): Promise<void> {
  await request({ method: 'DELETE', path: `/api/channel/${id}/` })
}

/** Answers how many were deleted. */
export async function deleteChannels(ids: readonly number[]): Promise<number> {
  const call = { method: 'POST', path: '/api/channel/batch', body: { ids } } as const
  return (await request<number>(call)).data ?? ids.length
}

/** Deletes every channel that is disabled, by hand or automatically; answers how many. */
export async function deleteDisabledChannels(): Promise<number> {
  return (await request<number>({ method: 'DELETE', path: '/api/channel/disabled' })).data ?? 0
}
