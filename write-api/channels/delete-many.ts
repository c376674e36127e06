import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeleteChannels, DeleteDisabledChannels } from '#domain/channel/commands.ts'
import { secretRefsOf } from '#projections/channels/query.ts'
import type { Deps } from '../act.ts'
import { dropKeys } from './channel-key.ts'
import { decideChannels } from './decide-channels.ts'

/** Deletes channels, and their secrets from the vault; answers how many there were. */
export async function deleteMany(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: DeleteChannels | DeleteDisabledChannels,
): Promise<number> {
  const { db, vault } = deps.core
  const { events } = await decideChannels(deps, request, reply, command)
  const ids = events.flatMap(({ data }) => ('channelIds' in data ? data.channelIds : []))
  await dropKeys(vault, await secretRefsOf(db, ids))
  return ids.length
}
