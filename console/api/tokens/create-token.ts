import type { Token } from '#read-api/contract/token.ts'
import type { CreateToken } from '#write-api/contract/token.ts'
import { request } from '../request.ts'

/** Answers the new token with its key, as far as the server tells it. */
export async function createToken(terms: CreateToken): Promise<Partial<Token> | null> {
  const call = { method: 'POST', path: '/api/token/', body: terms } as const
  return (await request<Partial<Token> | null>(call)).data ?? null
}
