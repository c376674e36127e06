import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChannelCommand } from '#domain/channel/commands.ts'
import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channel/events.ts'
import type { Done } from '#infra/event-store/actors-port.ts'
import { accepted, contextOf, type Deps, visibleIn } from '../act.ts'

/** Has a command carried out and waits until the list shows it; throws the refusal. */
export async function decideChannels(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: ChannelCommand,
): Promise<Done<ChannelEvent>> {
  const { actors } = deps.core
  const context = contextOf(deps, request)
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  const done = accepted(outcome)
  await visibleIn(deps, reply, ['channels'], done.position)
  return done
}

/** In seconds: what has expired by then stays off. */
export const unixNow = ({ core }: Deps): number => Math.floor(core.now() / 1_000)

/** How many channels the events say were changed. */
export const countOf = ({ events }: Done<ChannelEvent>): number =>
  events.reduce((sum, { data }) => sum + ('channelIds' in data ? data.channelIds.length : 0), 0)
