import { request } from '../request.ts'

export async function putOption(key: string, value: string): Promise<void> {
  await request({ method: 'PUT', path: '/api/option/', body: { key, value } })
}
