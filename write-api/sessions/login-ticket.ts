import { randomBytes } from 'node:crypto'
import type { UserRow } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'

const KIND = 'login-ticket'
const TICKET_MS = 5 * 60_000
const ATTEMPTS_MAX = 5

/**
 * A user who has completed the first step of a login. The ticket is invalid when the user's
 * `authVersion` has changed.
 */
export type LoginTicket = {
  readonly userId: number
  readonly authVersion: number
  readonly isByPassword: boolean
}

/**
 * Issues a ticket that proves the completed first step. The ticket has 256 random bits and is sent
 * only to the browser of the login.
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

/** Reads a ticket. Throws when it is unknown or expired. */
export async function readTicket({ core }: Deps, ticket: string): Promise<LoginTicket> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  return parseTicket(await core.shortLived.peek(KIND, key))
}

/** Counts an attempt before it is checked. Throws after five attempts with a ticket. */
export async function countTicketAttempt({ core }: Deps, ticket: string): Promise<void> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  if ((await core.shortLived.countTry(KIND, key, ATTEMPTS_MAX)) === null) {
    throw credentialsError('LoginTicketOver')
  }
}

/**
 * Consumes a ticket, so that the ticket starts only one session. When several requests consume a
 * ticket, the function throws for all except the first request.
 */
export async function consumeTicket({ core }: Deps, ticket: string): Promise<void> {
  parseTicket(await core.shortLived.take(KIND, core.vault.keyedHash('login-ticket', ticket)))
}

function parseTicket(value: string | null): LoginTicket {
  if (value === null) throw credentialsError('LoginTicketOver')
  return JSON.parse(value) as LoginTicket
}
