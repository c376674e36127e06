import { randomBytes } from 'node:crypto'
import type { UserRow } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'

const KIND = 'login-ticket'
const TICKET_MS = 5 * 60_000
const ATTEMPTS_MAX = 5

/**
 * The stored state of a user who has completed the first step of a login. If the user's
 * `authVersion` changes, the ticket becomes invalid.
 */
export type LoginTicket = {
  readonly userId: number
  readonly authVersion: number
  readonly isByPassword: boolean
}

/**
 * Issues a ticket with 256 random bits after the first step of a login. Only the browser that logs
 * in receives the ticket.
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

/**
 * Returns the stored state of a ticket without consuming the ticket. Throws if the ticket is
 * unknown or expired.
 */
export async function readTicket({ core }: Deps, ticket: string): Promise<LoginTicket> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  return parseTicket(await core.shortLived.peek(KIND, key))
}

/**
 * Counts an attempt with a ticket before the second factor is checked. Throws if five attempts were
 * already counted, or if the ticket is unknown or expired.
 */
export async function countTicketAttempt({ core }: Deps, ticket: string): Promise<void> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  if ((await core.shortLived.countTry(KIND, key, ATTEMPTS_MAX)) === null) {
    throw credentialsError('LoginTicketOver')
  }
}

/**
 * Consumes a ticket, so that it starts only one session. If several requests send the ticket at
 * once, only one of them succeeds.
 */
export async function consumeTicket({ core }: Deps, ticket: string): Promise<void> {
  parseTicket(await core.shortLived.take(KIND, core.vault.keyedHash('login-ticket', ticket)))
}

function parseTicket(value: string | null): LoginTicket {
  if (value === null) throw credentialsError('LoginTicketOver')
  return JSON.parse(value) as LoginTicket
}
