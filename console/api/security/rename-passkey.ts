import { request } from '../request.ts'

export async function renamePasskey(id: number, name: string): Promise<void> {
  await request({ method: 'PUT', path: '/api/user/passkeys', body: { id, name } })
}
