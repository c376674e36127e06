import { request } from '../request.ts'

/** Takes today's reward and answers how much it is. */
export async function checkIn(): Promise<number> {
  const { data } = await request<{ quota: number }>({
    method: 'POST',
    path: '/api/user/check_in',
  })
  return data.quota
}
