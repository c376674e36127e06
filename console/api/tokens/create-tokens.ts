import type { CreateToken } from '#write-api/contract/token.ts'
import { request } from '../request.ts'

/** In order; `keys` without `sk-`. */
export type CreatedTokens = { ids: number[]; names: string[]; keys: string[] }

/** One token or `count` of them: all, or none. */
export async function createTokens(terms: CreateToken): Promise<CreatedTokens> {
  const call = { method: 'POST', path: '/api/token/', body: terms } as const
  return (await request<CreatedTokens>(call)).data
}
