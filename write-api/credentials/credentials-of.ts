import type { FastifyRequest } from 'fastify'
import { type CredentialsCommand, credentialsDecider } from '#domain/credentials/decide.ts'
import { type CredentialsEvent, credentialsStream } from '#domain/credentials/events.ts'
import type { CredentialsState } from '#domain/credentials/state.ts'
import type { CommandContext, Done } from '#infra/event-store/actors-port.ts'
import { accepted, contextOf, type Deps } from '../action.ts'

/** Returns the current state from the event stream, independent of the read models. */
export const credentialsOf = ({ core }: Deps, userId: number): Promise<CredentialsState> =>
  core.actors.stateOf(credentialsDecider, credentialsStream(userId))

/** Throws the error of a rejected command. */
export async function changeCredentials(
  { core }: Deps,
  command: CredentialsCommand,
  context: CommandContext,
): Promise<Done<CredentialsEvent>> {
  const stream = credentialsStream(command.userId)
  return accepted(await core.actors.handle(credentialsDecider, stream, command, context))
}

/**
 * Revokes the sessions, access token and second factors of a deleted or erased user, and deletes
 * their secrets.
 */
export async function revokeCredentials(
  deps: Deps,
  request: FastifyRequest,
  userId: number,
): Promise<number> {
  const { totp } = await credentialsOf(deps, userId)
  const context = contextOf(deps, request)
  const command = { type: 'ForgetCredentials', userId } as const
  const { position } = await changeCredentials(deps, command, context)
  if (totp !== null) await deps.core.vault.deleteSecret(totp.secretRef)
  await request.server.gate.sessions.endAllOf(userId)
  return position
}
