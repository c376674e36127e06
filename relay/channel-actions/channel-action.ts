import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { contextOfRequest } from '#infra/http/command-context.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { channelActionError } from './channel-action-errors.ts'
import type { TestRuns } from './test-all-channels-in-background.ts'
import { type ChannelCheckDeps, waitForCurrentViews } from './wait-until-views-are-current.ts'

/** The app that derives the types of a request from the schemas of its route. */
type TypedApi = ReturnType<typeof typedApi>
export const typedApi = (app: FastifyInstance) => app.withTypeProvider<TypeBoxTypeProvider>()

export type ActionDeps = ChannelCheckDeps & {
  readonly runs: TestRuns
  readonly freshness: Pick<Freshness, 'waitFor'>
}

/** Registers the routes of one action. */
export type ChannelAction = (api: TypedApi, deps: ActionDeps) => void

const FRESH_WITHIN_MS = 2_000

/** Returns the context of the commands that a request executes: its actor and its time. */
export const contextOf = ({ now }: ActionDeps, request: FastifyRequest): CommandContext =>
  contextOfRequest(request, now())

/**
 * Returns the channel with its last saved settings, which are those that the admin sees. Throws a
 * 404 error if the channel does not exist.
 */
export async function currentChannel(deps: ActionDeps, channelId: number): Promise<RelayChannel> {
  await waitForCurrentViews(deps)
  const channel = deps.views.channels.find(channelId)
  if (channel === undefined) throw channelActionError('ChannelUnknown')
  return channel
}

/**
 * Waits until the read models include the event at `position`, so that the console shows the
 * change. Waits for at most two seconds. Also sends this position in the `x-position` header.
 */
export async function waitUntilVisible(
  { freshness }: ActionDeps,
  reply: FastifyReply,
  position: number,
): Promise<void> {
  reply.header('x-position', String(position))
  await freshness.waitFor(['channels', 'channel-checks'], position, FRESH_WITHIN_MS)
}
