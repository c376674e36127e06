import { request } from '../request.ts'

/** Another channel with the same terms and keys. */
export async function copyChannel(id: number): Promise<void> {
  await request({ method: 'POST', path: `/api/channel/copy/${id}` })
}
