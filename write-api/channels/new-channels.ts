import type { FastifyReply, FastifyRequest } from 'fastify'
import { channelsDecider } from '#domain/channel/decide.ts'
import {
  CHANNELS_STREAM,
  type ChannelTerms,
  type KeyMode,
  type NewChannel,
} from '#domain/channel/events.ts'
import { maskedSetting, secretProxyIn } from '#domain/shared/masked-proxy.ts'
import { highestChannelId } from '#projections/channels/query.ts'
import { accepted, contextOf, type Deps, visibleIn } from '../act.ts'
import { dropKeys, keepChannelKeys } from './channel-key.ts'
import { keepProxy } from './channel-proxy.ts'

export type ChannelsToMake = {
  /** But for the name; the setting's proxy with its login. */
  readonly terms: ChannelTerms
  readonly channels: readonly { readonly name: string; readonly keys: readonly string[] }[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/** Tries in a row: each time others made channels, or the read model was behind. */
const TRIES_MAX = 100

/** Makes all of them, or none, under the next ids; answers these once the list shows them. */
export async function makeChannels(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: ChannelsToMake,
): Promise<number[]> {
  const context = contextOf(deps, request)
  const made = await deps.turns('new-channel', async () => {
    let first = (await highestChannelId(deps.core.db)) + 1
    for (let tries = 1; ; tries += 1) {
      const { ids, outcome } = await makeFrom(deps, context, wanted, first)
      const next = outcome.isDone ? null : outcome.refusal.details?.next
      if (typeof next !== 'number' || tries === TRIES_MAX) return { ids, outcome }
      first = next
    }
  })
  const { position } = accepted(made.outcome)
  await visibleIn(deps, reply, ['channels'], position)
  return made.ids
}

async function makeFrom(
  { core }: Deps,
  context: ReturnType<typeof contextOf>,
  { channels: wanted, terms: entered, ...shared }: ChannelsToMake,
  first: number,
) {
  const { actors, vault } = core
  const { setting } = entered
  const proxy = secretProxyIn(setting)
  const terms = proxy === null ? entered : { ...entered, setting: maskedSetting(setting) }
  const channels: NewChannel[] = []
  for (const [index, { name, keys }] of wanted.entries()) {
    const channelId = first + index
    const keyRefs = await keepChannelKeys(vault, channelId, keys)
    const made = { channelId, name, keyRefs }
    if (proxy === null) channels.push(made)
    else channels.push({ ...made, proxyRef: await keepProxy(vault, channelId, proxy) })
  }
  const command = { type: 'CreateChannels', ...shared, terms, channels } as const
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  if (!outcome.isDone) {
    const unused = channels.flatMap(({ keyRefs, proxyRef = [] }) => keyRefs.concat(proxyRef))
    await dropKeys(vault, unused)
  }
  return { ids: channels.map(({ channelId }) => channelId), outcome }
}
