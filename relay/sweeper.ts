import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Core } from '#infra/core.ts'
import { expiredCalls, type OpenCall } from '#projections/open-calls/query.ts'

export type Sweeper = { readonly stop: () => Promise<void> }

/** Calls whose lease is over; a seam for tests without read models. */
export type FindExpired = (now: number, limit: number) => Promise<readonly OpenCall[]>

const EVERY_MS = 5_000
const BATCH = 1_000

type SweeperCore = Pick<Core, 'actors' | 'db' | 'log' | 'now'>

/** A pass every five seconds. */
export function startSweeper(core: SweeperCore, findExpired?: FindExpired): Sweeper {
  const find: FindExpired = findExpired ?? ((at, limit) => expiredCalls(core.db, at, limit))
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout

  const pass = async (): Promise<void> => {
    try {
      await sweep(core, find)
    } catch (err) {
      if (!isStopped) core.log.warn({ err }, 'sweeper: this pass failed, the next will try again')
    }
    if (!isStopped) plan()
  }
  const plan = (): void => {
    timer = setTimeout(() => {
      running = pass()
    }, EVERY_MS)
  }
  plan()
  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/**
 * Ends the calls whose owner died: each once, charged what its last progress says. Whether a lease
 * is over is decided by the account itself; the read model only tells where to look, and may lag.
 */
export async function sweep(
  { actors, now }: Pick<Core, 'actors' | 'now'>,
  findExpired: FindExpired,
): Promise<void> {
  const expired = await findExpired(now(), BATCH)
  await Promise.all(
    expired.map(({ call, userId }) => {
      const context = { actor: 'system:sweeper', cause: call, at: now() }
      const command = { type: 'InterruptCall', call, at: now() } as const
      return actors.handle(accountDecider, accountStream(userId), command, context)
    }),
  )
}
