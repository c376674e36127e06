import { createHash, randomBytes } from 'node:crypto'
import type { Core } from '#infra/core.ts'

export const RESET_MINUTES = 15
const KIND = 'password-reset'

/** Whose password the link resets, as long as it is the one from when the link was made. */
export type ResetLink = { readonly userId: number; readonly authVersion: number }

type Links = Pick<Core, 'shortLived'>

/** The token of a new link; kept as a hash alone, with the address that it was mailed to. */
export async function makeResetLink(
  { shortLived }: Links,
  address: string,
  link: ResetLink,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const ttlMs = RESET_MINUTES * 60_000
  await shortLived.put(KIND, keyOf(address, token), JSON.stringify(link), ttlMs)
  return token
}

/** Throws where no link could be kept: asked before it is known whether there is to be one. */
export const requireResetLinks = async ({ shortLived }: Links): Promise<void> =>
  void (await shortLived.peek(KIND, 'any'))

/** Whether the token is a good one's, without using it up. */
export const isResetLink = async (
  { shortLived }: Links,
  address: string,
  token: string,
): Promise<boolean> => (await shortLived.peek(KIND, keyOf(address, token))) !== null

/** What the token stands for, to one asker alone; null for any but a good one. */
export async function takeResetLink(
  { shortLived }: Links,
  address: string,
  token: string,
): Promise<ResetLink | null> {
  const text = await shortLived.take(KIND, keyOf(address, token))
  return text === null ? null : (JSON.parse(text) as ResetLink)
}

const keyOf = (address: string, token: string): string =>
  createHash('sha256').update(`${address}\n${token}`).digest('hex')
