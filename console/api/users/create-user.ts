import type { CreateUser } from '#write-api/contract/user.ts'
import { request } from '../request.ts'

export async function createUser(user: CreateUser): Promise<void> {
  await request({ method: 'POST', path: '/api/user/', body: user })
}
