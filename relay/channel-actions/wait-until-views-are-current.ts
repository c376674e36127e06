import type { Core } from '#infra/core-dependencies.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { OutboundPolicy } from '#infra/outbound/outbound-policy.ts'
import type { Views } from '#relay/views/start-views.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { ChannelTestDeps, ChannelTestResult } from './send-channel-test.ts'

const FRESH_WITHIN_MS = 2_000

/** The dependencies of the actions that send requests to providers. */
export type ChannelCheckDeps = ChannelTestDeps & {
  readonly core: Pick<Core, 'db' | 'leases' | 'store' | 'log'>
  readonly views: Views
  readonly policy: OutboundPolicy
  /** Applies a test's consequences: see `applyTestResult` in `channel-health/`. */
  readonly applyTestResult: (
    channel: RelayChannel,
    result: ChannelTestResult,
    context: CommandContext,
  ) => void
  readonly providerOutbound: Outbound
}

/**
 * Waits until the relay's in-memory views include all events that are stored now. Waits for at most
 * two seconds.
 */
export async function waitForCurrentViews({ core, views }: ChannelCheckDeps): Promise<void> {
  let late: NodeJS.Timeout | undefined
  const bound = new Promise<void>((resolve) => {
    late = setTimeout(resolve, FRESH_WITHIN_MS)
  })
  await Promise.race([views.reached(await core.store.headPosition()), bound])
  clearTimeout(late)
}
