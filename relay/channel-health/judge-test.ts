import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM } from '#domain/channel/events.ts'
import type { ProbeResult } from '../channel-actions/probe.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { RelayChannel } from '../views/channel-view.ts'

type Deps = Pick<RelayDeps, 'actors' | 'autoDisable' | 'breaker' | 'log' | 'now' | 'views'> & {
  readonly slowTests: SlowTests
}

/** Who asks for the tests that have consequences. */
export const SCHEDULER = 'system:health'

/** Whose test it was is nobody's: a refused key counts once for each. */
const NOBODY = 0
const NOTHING = Buffer.alloc(0)

/**
 * What follows from a test. Any that went well closes the channel's circuits. A scheduled one may
 * also turn a channel off, when it was too slow so many times in a row or the account was refused
 * once too often, and on again when it was the gateway that had turned it off.
 */
export function judgeTest(
  deps: Deps,
  channel: RelayChannel,
  result: ProbeResult,
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
    const told = { channel, key, call: cause ?? '', userId: NOBODY, requestBody: NOTHING }
    deps.autoDisable.note(told, end)
    return
  }
  const isSlow = testMsMax > 0 && durationMs > testMsMax
  if (channel.isEnabled) {
    const isTooOften = deps.slowTests.isTooOften(channelId, isSlow, slowTestsMax)
    if (isTooOften && disable.isEnabled) deps.autoDisable.turnChannelOff(channel, 'slow', cause)
  } else if (!isSlow && disable.isTakingBack) takeBack(deps, channelId, cause)
}

/** Of a channel that an admin turned off meanwhile nothing is changed: the roster decides. */
function takeBack({ actors, log, now }: Deps, channelId: number, cause: string | null): void {
  const command = { type: 'AutoEnableChannel', channelId } as const
  actors
    .handle(channelsDecider, CHANNELS_STREAM, command, { actor: SCHEDULER, cause, at: now() })
    .catch((err: unknown) => log.warn({ err, channelId }, 'could not turn the channel on again'))
}

/** How many of each channel's scheduled tests in a row were too slow. */
export class SlowTests {
  private readonly counts = new Map<number, number>()

  /** True once `most` in a row were; then it is counted anew. */
  isTooOften(channelId: number, isSlow: boolean, most: number): boolean {
    const count = isSlow ? (this.counts.get(channelId) ?? 0) + 1 : 0
    if (count === 0 || count >= most) this.counts.delete(channelId)
    else this.counts.set(channelId, count)
    return count >= most
  }
}
