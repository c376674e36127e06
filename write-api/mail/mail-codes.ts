import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { Core } from '#infra/core.ts'

/**
 * What a code is good for: a new account, or, of the account of this id, an address to come in by
 * or to be told things at.
 */
export type CodePurpose = 'register' | `bind:${number}` | `notify:${number}`

export const CODE_MINUTES = 3
const TRIES_MAX = 5
const KIND = 'mail-code'

type Codes = Pick<Core, 'shortLived'>

const keyOf = (purpose: CodePurpose, address: string): string => `${purpose}\n${address}`

/** A new code for the address, in place of one from before. */
export async function makeMailCode(
  { shortLived }: Codes,
  purpose: CodePurpose,
  address: string,
): Promise<string> {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await shortLived.put(KIND, keyOf(purpose, address), code, CODE_MINUTES * 60_000)
  return code
}

/** Whether it is the code: used up if so; after five wrong ones there is none any more. */
export async function takeMailCode(
  { shortLived }: Codes,
  purpose: CodePurpose,
  address: string,
  given: string,
): Promise<boolean> {
  const key = keyOf(purpose, address)
  if ((await shortLived.countTry(KIND, key, TRIES_MAX)) === null) return false
  const code = await shortLived.peek(KIND, key)
  if (code === null || !isSame(code, given.trim())) return false
  // NOTE: fifty right ones at once pass until here; one of them takes it.
  const taken = await shortLived.take(KIND, key)
  return taken !== null && isSame(taken, code)
}

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
