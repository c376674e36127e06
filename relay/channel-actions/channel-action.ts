import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { principalOf } from '#infra/http/access.ts'
import type { Freshness } from '#projections/freshness/query.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { channelActionError } from './channel-action-errors.ts'
import type { TestRuns } from './test-runs.ts'
import { type CheckDeps, viewsNow } from './views-now.ts'

/** The app, with handlers typed by their schemas. */
export type Api = ReturnType<typeof typed>
export const typed = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

export type ActionDeps = CheckDeps & {
  readonly runs: TestRuns
  readonly freshness: Pick<Freshness, 'waitFor'>
}

/** One action: its route, its schema and what it does. */
export type ChannelAct = (api: Api, deps: ActionDeps) => void

const FRESH_WITHIN_MS = 2_000

export const contextOf = ({ now }: ActionDeps, request: FastifyRequest): CommandContext => ({
  actor: `user:${principalOf(request).userId}`,
  cause: request.id,
  at: now(),
})

/** The channel as it was last saved: what an admin sees is what is asked. Throws a 404. */
export async function channelNow(deps: ActionDeps, channelId: number): Promise<RelayChannel> {
  await viewsNow(deps)
  const channel = deps.views.channels.find(channelId)
  if (channel === undefined) throw channelActionError('ChannelUnknown')
  return channel
}

/** As for any write: its position, and the answer once the channels' screens include it. */
export async function visible(
  { freshness }: ActionDeps,
  reply: FastifyReply,
  position: number,
): Promise<void> {
  reply.header('x-position', String(position))
  await freshness.waitFor(['channels', 'channel-checks'], position, FRESH_WITHIN_MS)
}
