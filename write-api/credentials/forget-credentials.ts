import type { FastifyRequest } from 'fastify'
import type { Parts } from '../act.ts'
import { contextOf } from '../act.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'

/** Once a user was deleted or erased: sessions, access token, second factors and their secrets. */
export async function forgetCredentials(
  parts: Parts,
  request: FastifyRequest,
  userId: number,
): Promise<number> {
  const { totp } = await credentialsOf(parts, userId)
  const context = contextOf(parts, request)
  const command = { type: 'ForgetCredentials', userId } as const
  const { position } = await changeCredentials(parts, command, context)
  if (totp !== null) await parts.core.vault.deleteSecret(totp.secretRef)
  await request.server.gate.sessions.endAllOf(userId)
  return position
}
