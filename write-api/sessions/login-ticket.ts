import { randomBytes } from 'node:crypto'
import type { UserRow } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'

const KIND = 'login-ticket'
const TICKET_MS = 5 * 60_000
const ATTEMPTS_MAX = 5

/** A user after the first step of a login. The ticket becomes invalid if `authVersion` changes. */
export type LoginTicket = {
  readonly userId: number
  readonly authVersion: number
  readonly isByPassword: boolean
}

/**
 * Issues a ticket for a completed first step of a login. It has 256 random bits and is only sent to
 * the browser that logs in.
 */
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

/** Reads a ticket. Throws if the ticket is unknown or expired. */
export async function readTicket({ core }: Deps, ticket: string): Promise<LoginTicket> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  return parseTicket(await core.shortLived.peek(KIND, key))
}

/**
 * Counts an attempt, before the second factor is checked. Throws after five attempts with the
 * ticket.
 */
export async function countTicketAttempt({ core }: Deps, ticket: string): Promise<void> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  if ((await core.shortLived.countTry(KIND, key, ATTEMPTS_MAX)) === null) {
    throw credentialsError('LoginTicketOver')
  }
}

/**
 * A ticket starts only one session. Of simultaneous requests with the same ticket, only the first
 * succeeds.
 */
export async function consumeTicket({ core }: Deps, ticket: string): Promise<void> {
  parseTicket(await core.shortLived.take(KIND, core.vault.keyedHash('login-ticket', ticket)))
}

function parseTicket(value: string | null): LoginTicket {
  if (value === null) throw credentialsError('LoginTicketOver')
  return JSON.parse(value) as LoginTicket
}
