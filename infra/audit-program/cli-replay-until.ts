import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { isReadyCopy, SCRATCH_COPIES_MAX } from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import type { Core } from '../core-dependencies.ts'
import { CommandError, type Invocation, print, printJson, terminalProgress } from './cli-verb.ts'
import { readProgress } from './job-progress.ts'
import { buildNextScratchCopy, isStillBuilding, scratchCopiesOf } from './scratch-copy-jobs.ts'
import { ensureAuditTables } from './stored-audit-state.ts'

const LOOK_EVERY_MS = 500

/**
 * Requests a scratch copy, which holds the read models as of a position, and waits until it is
 * built. A running site builds the copy. If no site is running, this process gets the builder's
 * lease and builds it. Returns the exit code.
 */
export async function replayUntil(
  { values, signal }: Invocation,
  core: Core,
  position: number,
): Promise<number> {
  await ensureAuditTables(core.pg)
  const id = await request(core, position)
  const builder = core.leases.hold('audit-scratch-copies', async (_lease, lost) => {
    while (!lost.aborted && (await isStillBuilding(core, id)))
      await buildNextScratchCopy(core, lost)
  })
  const progress = terminalProgress()
  try {
    while (await isStillBuilding(core, id)) {
      signal.throwIfAborted()
      const found = (await readProgress(core.pg, [id])).get(id)
      if (found !== undefined) progress(found.stage, found.done, found.total)
      await delay(LOOK_EVERY_MS, undefined, { signal })
    }
  } finally {
    await builder.stop()
  }
  const copy = (await scratchCopiesOf(core)).find((one) => one.request.id === id)
  const isReady = copy !== undefined && isReadyCopy(copy)
  const bytes = copy?.result?.bytes ?? null
  if (values.json === true) printJson({ id, position, is_ready: isReady, bytes })
  else if (isReady)
    print(`Copy ${id} of the events up to ${position} can be opened in the console\n`)
  else print(`Copy ${id} was not built; the log of the server says why\n`)
  return isReady ? 0 : 1
}

async function request({ actors, store, now }: Core, position: number): Promise<string> {
  const head = await store.headPosition()
  if (position > head) throw new CommandError(`--until must be at most ${head}, the last position`)
  const [event] = await store.readAll(position - 1, 1)
  const id = randomUUID()
  const outcome = await actors.handle(
    auditJobsDecider,
    AUDIT_JOBS_STREAM,
    {
      ...{ type: 'RequestScratchCopy', id, position, asOf: event?.meta.at ?? now() },
      ...{ requestedBy: null, requestedAt: now(), ownMax: SCRATCH_COPIES_MAX },
    },
    { actor: 'system:audit', cause: id, at: now() },
  )
  if (outcome.isDone) return id
  throw new CommandError(`there are already ${outcome.error.params.max} copies: delete one first`)
}
