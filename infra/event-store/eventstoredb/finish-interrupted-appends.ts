import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable } from '../port.ts'
import { finish, type JointDeps } from './append-to-several-streams.ts'
import { RECOVERY_TIMES, type RecoveryTimes } from './interrupted-append-timings.ts'
import { LockTimeout } from './locks.ts'
import type { StoredEvent } from './stored-event.ts'

/**
 * The name of the lock that lets only one process recover joint appends (appends to several
 * streams) at a time. Processes of earlier releases use the same name.
 */
const LOCK = 'healer'
const PAGE = 1_000
const FINISH_WITHIN_MS = 10_000

/**
 * Finishes the joint appends that killed processes left incomplete. A joint append writes to
 * several streams one after another. One process at a time looks for incomplete joint appends. Each
 * pass begins where the previous pass stopped.
 */
export function startJointAppendRecovery(
  joint: JointDeps,
  times: RecoveryTimes = RECOVERY_TIMES,
): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await joint.locks.alone(LOCK, () => pass(joint, times.graceMs, stopping.signal))
      } catch (error) {
        joint.log.warn(
          { reason: (error as Error).message },
          'unfinished joint appends could not be completed yet',
        )
      }
      await delay(times.everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

async function pass(joint: JointDeps, graceMs: number, stopping: AbortSignal): Promise<void> {
  const [begin, now] = await Promise.all([joint.locks.completeUpTo(), joint.locks.now()])
  for (let position = begin; !stopping.aborted; ) {
    const page = await joint.reads.readAll(position, PAGE)
    const firstYoung = page.findIndex((event) => isYoung(event, now - graceMs))
    const oldEnough = firstYoung < 0 ? page : page.slice(0, firstYoung)
    for (const event of oldEnough)
      if (event.others.length > 0) await finishJointAppend(event, joint)
    const last = oldEnough.at(-1)?.recorded.position ?? position
    if (last > position) await joint.locks.setCompleteUpTo(last)
    position = last
    if (firstYoung >= 0 || page.length < PAGE) return
  }
}

/**
 * Reports whether the event contains the events of a joint append for other streams and was
 * recorded after `since`. `since` and the time of the event are from the clock that all processes
 * share.
 */
const isYoung = ({ others, recorded }: StoredEvent, since: number): boolean =>
  others.length > 0 && recorded.meta.at > since

/**
 * Finishes one joint append. Throws if the event store or a lock is unavailable. Any other failure
 * is only logged.
 */
async function finishJointAppend(event: StoredEvent, joint: JointDeps): Promise<void> {
  const { stream, revision, position } = event.recorded
  const names = [stream, ...event.others.map((part) => part.stream)]
  const decision = { isWritten: true, revision, positions: [position], found: [event] } as const
  try {
    await joint.locks.together(names, FINISH_WITHIN_MS, async () => {
      await finish(decision, performance.now() + FINISH_WITHIN_MS, joint)
    })
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof LockTimeout) throw error
    joint.log.error({ err: error, stream, position }, 'a joint append could not be finished')
  }
}
