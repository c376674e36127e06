import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Client } from '#domain/shared/event.ts'
import type { CommandContext } from '../event-store/stream-actors-port.ts'
import type { Vault } from '../vault/port.ts'
import { principalOf } from './access-checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The network address of the authenticated user's request, encrypted. Null before
     * `sealClientAddresses` has run, and for requests without a user.
     */
    sealedClient: Client | null
  }
}

/**
 * Encrypts the client's address of every authenticated request, so that `contextOf` can add it to
 * the events of the request. Register this function in each scope whose routes append events. The
 * address is encrypted with the key of the user who sent the request, and becomes unreadable when
 * this user is erased.
 */
export function sealClientAddresses(scope: FastifyInstance, vault: Pick<Vault, 'seal'>): void {
  scope.addHook('preHandler', async (request) => {
    if (request.principal === null) return
    request.sealedClient = await clientOf(vault, request, request.principal.userId)
  })
}

/**
 * Returns the client address of a request, encrypted with the key of the given user, for the events
 * of the request. Returns null if a proxy sent something that is not an address.
 */
export async function clientOf(
  vault: Pick<Vault, 'seal'>,
  request: Pick<FastifyRequest, 'ip'>,
  userId: number,
): Promise<Client | null> {
  if (isIP(request.ip) === 0) return null
  return { userId, ip: await vault.seal(userId, request.ip) }
}

/**
 * Returns the context that every event of an authenticated request records: the actor, the client,
 * the time (`at`, in Unix milliseconds), and the request id as the cause.
 */
export const contextOfRequest = (request: FastifyRequest, at: number): CommandContext => ({
  actor: `user:${principalOf(request).userId}`,
  cause: request.id,
  at,
  client: request.sealedClient,
})

/**
 * Like `contextOfRequest`, but for a user who has no session yet and has proved their identity in
 * another way.
 */
export const contextOfUser = async (
  { vault, now }: { readonly vault: Pick<Vault, 'seal'>; readonly now: () => number },
  request: FastifyRequest,
  userId: number,
): Promise<CommandContext> => ({
  actor: `user:${userId}`,
  cause: request.id,
  at: now(),
  client: await clientOf(vault, request, userId),
})
