import type { ChannelHealthEvent } from '#domain/channel-health/events.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import { OPTIONS_STREAM, type OptionsEvent } from '#domain/options/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { TokenEvent } from '#domain/tokens/events.ts'
import type { UserEvent } from '#domain/users/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Subscription } from '#infra/event-store/port.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import { OpenCircuitView } from '#relay/channel-health/open-circuit-view.ts'
import { createChannelFollower, type LoadChannels } from './apply-channel-events-or-reload.ts'
import { ChannelView } from './channel-view.ts'
import type { ViewRows } from './load-view-rows.ts'
import { OptionView } from './option-view.ts'
import { TokenView } from './token-view.ts'
import { UserView } from './user-view.ts'

/** The relay's in-memory views of tokens, users, channels, circuits and options. */
export type Views = {
  readonly tokens: TokenView
  readonly users: UserView
  readonly channels: ChannelView
  readonly circuits: OpenCircuitView
  readonly options: OptionView
  /** Returns the position of the last event that the views include. */
  readonly position: () => number
  /** Resolves once the views include the event at `position`. */
  readonly reached: (position: number) => Promise<void>
  readonly stop: () => Promise<void>
}

type ViewCore = Pick<Core, 'store' | 'vault' | 'log'>

const RECONNECT_MS = 250
/**
 * The names or prefixes of the streams whose events change a view. The subscription is limited to
 * these streams, because most events of the store are about calls, and calls change no view.
 */
const STREAMS = ['tokens-', 'user-', 'channel-health-', CHANNELS_STREAM, OPTIONS_STREAM]

/**
 * Creates the relay's views from loaded rows and keeps them up to date by a subscription. Resolves
 * once the views include every event that existed when this function was called. After a loss of
 * the connection, the subscription resumes at the last position.
 */
export async function startViews(
  core: ViewCore,
  rows: ViewRows,
  policy: OutboundPolicy,
  loadChannels: LoadChannels,
): Promise<Views> {
  const tokens = new TokenView()
  const users = new UserView()
  const emptyView = () => new ChannelView(core.vault, policy)
  const channels = emptyView()
  const circuits = new OpenCircuitView(rows.circuits.rows)
  const options = new OptionView(rows.options.values, rows.options.revision)
  for (const row of rows.tokens.rows) tokens.put(row)
  for (const row of rows.users.rows) users.put(row)
  await channels.putAll(rows.channels.rows)

  const { log } = core
  const followChannel = createChannelFollower({
    log,
    view: channels,
    emptyView,
    load: loadChannels,
  })
  const apply = (event: Recorded): Promise<void> | undefined => {
    const { stream, position } = event
    if (stream.startsWith('tokens-') && position > rows.tokens.position) {
      tokens.apply(event as Recorded<TokenEvent>)
    } else if (stream.startsWith('user-') && position > rows.users.position) {
      users.apply(event as Recorded<UserEvent>)
    } else if (stream.startsWith('channel-health-')) {
      if (position > rows.circuits.position) circuits.apply(event as Recorded<ChannelHealthEvent>)
    } else if (stream === CHANNELS_STREAM && position > rows.channels.position) {
      return followChannel(event as Recorded<ChannelEvent>)
    } else if (stream === OPTIONS_STREAM && position > rows.options.position) {
      options.apply(event as Recorded<OptionsEvent>)
    }
  }
  const follower = follow(core, lowestPosition(rows), apply)
  await follower.reached(await core.store.headPosition())
  return { tokens, users, channels, circuits, options, ...follower }
}

const lowestPosition = (rows: ViewRows): number =>
  Math.min(...Object.values(rows).map(({ position }) => position))

type Follower = {
  readonly position: () => number
  readonly reached: (position: number) => Promise<void>
  readonly stop: () => Promise<void>
}

function follow(
  core: ViewCore,
  after: number,
  apply: (event: Recorded) => Promise<void> | undefined,
): Follower {
  let position = after
  let isStopped = false
  let subscription: Subscription
  let reconnect: NodeJS.Timeout | undefined
  let waiting: { readonly position: number; readonly resolve: () => void }[] = []

  const onBatch = async (events: readonly Recorded[], upTo: number): Promise<void> => {
    for (const event of events) {
      const pending = apply(event)
      // Two options that were written in one append must take effect together. Because a call could
      // run during an `await`, there is an `await` only if the change is still pending.
      if (pending !== undefined) await pending
      position = event.position
    }
    position = upTo
    for (const waiter of waiting) if (waiter.position <= position) waiter.resolve()
    waiting = waiting.filter((waiter) => waiter.position > position)
  }
  const onError = (error: unknown): void => {
    if (isStopped) return
    core.log.warn({ err: error, position }, 'relay views: subscription lost, reconnecting')
    reconnect = setTimeout(subscribe, RECONNECT_MS)
  }
  const subscribe = (): void => {
    subscription = core.store.subscribeAll(position, onBatch, onError, { streamPrefixes: STREAMS })
  }
  subscribe()
  return {
    position: () => position,
    reached: (target) =>
      target <= position
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ position: target, resolve })),
    stop: async () => {
      isStopped = true
      clearTimeout(reconnect)
      await subscription.stop()
    },
  }
}
