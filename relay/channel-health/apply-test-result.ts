import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { ChannelTestResult } from '../channel-actions/send-channel-test.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { RelayChannel } from '../views/channel-view.ts'

type Deps = Pick<RelayDeps, 'actors' | 'autoDisable' | 'breaker' | 'log' | 'now' | 'views'> & {
  readonly slowTests: SlowTestCounts
}

/** The actor of scheduled tests. Tests by any other actor never disable or enable a channel. */
export const SCHEDULER = 'system:health'

/**
 * The user id of all channel tests in the counts of rejections. A rejection that the caller may
 * have caused counts only once per user, so all tests together count as one user.
 */
const NOBODY = 0
const NOTHING = Buffer.alloc(0)

/**
 * Applies the result of a channel test. A success closes the circuits of the channel, of the tested
 * model and of the channel's first key. A scheduled test can also disable a channel that was too
 * slow in several such tests or whose account is rejected too often, and can enable a channel that
 * the gateway had disabled.
 */
export function applyTestResult(
  deps: Deps,
  channel: RelayChannel,
  result: ChannelTestResult,
  { actor, cause }: { readonly actor: string; readonly cause: string | null },
): void {
  const { channelId, terms } = channel
  const { isSuccess, end, durationMs, model } = result
  const keyRef = channel.keys[0]?.keyRef ?? null
  const tested = { channelId, model: terms.modelPrefix + model, keyRef }
  if (isSuccess) deps.breaker.noteTest(tested, cause)
  if (actor !== SCHEDULER) return
  const { disable, testMsMax, slowTestsMax } = deps.views.options.options.health
  if (!isSuccess) {
    const [key] = channel.keys
    if (end === null || key === undefined || !channel.isEnabled) return
    const attempt = { channel, key, call: cause ?? '', userId: NOBODY, requestBody: NOTHING }
    deps.autoDisable.note(attempt, end)
    return
  }
  const isSlow = testMsMax > 0 && durationMs > testMsMax
  if (channel.isEnabled) {
    const isLimitReached = deps.slowTests.isLimitReached(channelId, isSlow, slowTestsMax)
    if (isLimitReached && disable.isEnabled) deps.autoDisable.disableChannel(channel, 'slow', cause)
  } else if (!isSlow && disable.isReenabling) reenable(deps, channelId, cause)
}

/**
 * Enables a channel that the gateway disabled. If an admin has disabled the channel in the
 * meantime, it stays disabled.
 */
function reenable({ actors, log, now }: Deps, channelId: number, cause: string | null): void {
  const command = { type: 'AutoEnableChannel', channelId } as const
  actors
    .handle(channelsDecider, CHANNELS_STREAM, command, { actor: SCHEDULER, cause, at: now() })
    .catch((err: unknown) => log.warn({ err, channelId }, 'the channel could not be enabled again'))
}

/** Counts the consecutive slow tests of each channel. */
export class SlowTestCounts {
  private readonly counts = new Map<number, number>()

  /**
   * Records a test as slow or not slow. After `most` consecutive slow tests, returns true and
   * restarts the count.
   */
  isLimitReached(channelId: number, isSlow: boolean, most: number): boolean {
    const count = isSlow ? (this.counts.get(channelId) ?? 0) + 1 : 0
    if (count === 0 || count >= most) this.counts.delete(channelId)
    else this.counts.set(channelId, count)
    return count >= most
  }
}
