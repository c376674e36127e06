import { randomBytes } from 'node:crypto'
import type { UserRow } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from '../credentials/credentials-errors.ts'

const KIND = 'login-ticket'
const TICKET_MS = 5 * 60_000
const TRIES_MAX = 5

/** Whose first step it stands for; void once the user's `authVersion` is another one. */
export type LoginTicket = {
  readonly userId: number
  readonly authVersion: number
  readonly isByPassword: boolean
}

/** Says that the first step of a login was made: 256 random bits, told to that browser alone. */
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

/** Throws when there is no such ticket, or no more. */
export async function ticketFor({ core }: Deps, ticket: string): Promise<LoginTicket> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  return known(await core.shortLived.peek(KIND, key))
}

/** Counts a try, made before it is checked: a ticket is good for five. */
export async function tryTicket({ core }: Deps, ticket: string): Promise<void> {
  const key = core.vault.keyedHash('login-ticket', ticket)
  if ((await core.shortLived.countTry(KIND, key, TRIES_MAX)) === null) {
    throw credentialsError('LoginTicketOver')
  }
}

/** One session for a ticket: throws for everybody but the first. */
export async function takeTicket({ core }: Deps, ticket: string): Promise<void> {
  known(await core.shortLived.take(KIND, core.vault.keyedHash('login-ticket', ticket)))
}

function known(value: string | null): LoginTicket {
  if (value === null) throw credentialsError('LoginTicketOver')
  return JSON.parse(value) as LoginTicket
}
