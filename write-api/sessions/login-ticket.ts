import { randomBytes } from 'node:crypto'
import type { UserRow } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'

const KIND = 'login-ticket'
const TICKET_MS = 5 * 60_000
const ATTEMPTS_MAX = 5

/** The user who completed the first step. Void once the user's `authVersion` changes. */
export type LoginTicket = {
  readonly userId: number
  readonly authVersion: number
  readonly isByPassword: boolean
}

/** Issues the proof of a completed first step: 256 random bits, sent only to that browser. */
export async function issueTicket(
  { core }: Deps,
  user: UserRow,
  isByPassword: boolean,
): Promise<string> {
  const ticket = randomBytes(32).toString('base64url')
  const { id: userId, authVersion } = user
  const value = JSON.stringify({ userId, authVersion, isByPassword } satisfies LoginTicket)
  await core.shortLived.put(KIND, core.vault.keyedHash('login-ticket', ticket), value, TICKET_MS)
  return ticket
}

/** Throws if the ticket is unknown or has expired. */
export async function readTicket({ core }: Deps, ticket: string): Promise<LoginTicket> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  return parseTicket(await core.shortLived.peek(KIND, key))
}

/** Counts an attempt before it is checked; a ticket allows five. */
export async function countTicketAttempt({ core }: Deps, ticket: string): Promise<void> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  if ((await core.shortLived.countTry(KIND, key, ATTEMPTS_MAX)) === null) {
    throw credentialsError('LoginTicketOver')
  }
}

/**
 * Uses the ticket up, so that it starts one session: throws for every concurrent caller except the
 * first.
 */
export async function consumeTicket({ core }: Deps, ticket: string): Promise<void> {
  parseTicket(await core.shortLived.take(KIND, core.vault.keyedHash('login-ticket', ticket)))
}

function parseTicket(value: string | null): LoginTicket {
  if (value === null) throw credentialsError('LoginTicketOver')
  return JSON.parse(value) as LoginTicket
}
