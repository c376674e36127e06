import type { FastifyRequest } from 'fastify'
import type { Deps } from '../act.ts'
import { contextOf } from '../act.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'

/** Once a user was deleted or erased: sessions, access token, second factors and their secrets. */
export async function forgetCredentials(
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
