import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import type { Done } from '#infra/event-store/stream-actors-port.ts'
import { accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'

/** Executes a command on channels. Waits until the list of channels shows the change. */
export async function executeChannelCommand(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: ChannelCommand,
): Promise<Done<ChannelEvent>> {
  const { actors } = deps.core
  const context = contextOf(deps, request)
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  const done = accepted(outcome)
  await waitUntilVisible(deps, reply, ['channels'], done.position)
  return done
}

/** Returns the current time in Unix seconds. */
export const unixNow = ({ core }: Deps): number => Math.floor(core.now() / 1_000)

/** Returns the number of channels that the events of a command changed. */
export const changedCount = ({ events }: Done<ChannelEvent>): number =>
  events.reduce((sum, { data }) => sum + ('channelIds' in data ? data.channelIds.length : 0), 0)
