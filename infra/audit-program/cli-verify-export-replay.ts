import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { isReadyCopy, SCRATCH_COPIES_MAX } from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { lowestOf } from '#projections/runner/checkpoints.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import type { Core } from '../core-dependencies.ts'
import {
  CommandError,
  type Invocation,
  positionOption,
  print,
  printJson,
  terminalProgress,
  type Verb,
  verifyPosition,
  withSite,
} from './cli-verb-and-site-access.ts'
import { readProgress } from './job-progress.ts'
import { runVerifier } from './offline-verifier.ts'
import { exportSource, recordsOf } from './open-sealed-log.ts'
import { buildNextScratchCopy, isStillBuilding, scratchCopiesOf } from './scratch-copy-jobs.ts'
import { ensureAuditTables } from './state-after-last-verification.ts'
import { checkLines, findingLine, resultLine } from './verification-report-text.ts'
import { verifySite } from './verify-site-data.ts'
import { OtherExport, writeExportFolder } from './write-export-folder.ts'

export const VERIFY: Verb = {
  form: 'verify [FOLDER | FILE.tar]',
  summary: 'Verify an export, or all events of the site',
  help: `Without an argument, the events of the site, its seal and its read models are verified.

  --incremental           only the events after the last verification (site)
  --key KEY               a key of the site, as it was published (export); may be repeated
  --witness KEY           a witness that must have signed (export); may be repeated
  --quorum N              how many of these witnesses must have signed (default: all)
  --earlier EXPORT|FILE   an earlier export, or a file of signed checkpoints (export)`,
  argumentsMax: 1,
  options: {
    incremental: { type: 'boolean' },
    key: { type: 'string', multiple: true },
    witness: { type: 'string', multiple: true },
    quorum: { type: 'string' },
    earlier: { type: 'string', multiple: true },
  },
  run: async (invocation) =>
    invocation.positionals.length === 0
      ? await verifyOpenSite(invocation)
      : await verifyFile(invocation),
}

async function verifyFile({ positionals, values }: Invocation): Promise<number> {
  if (values.incremental === true) throw new CommandError('--incremental is for a site')
  const repeated = (name: string) =>
    ((values[name] ?? []) as string[]).flatMap((value) => [`--${name}`, value])
  const json = values.json === true ? ['--json'] : []
  const quorum = typeof values.quorum === 'string' ? ['--quorum', values.quorum] : []
  const named = [...repeated('key'), ...repeated('witness'), ...repeated('earlier')]
  return await runVerifier([...positionals, ...named, ...quorum, ...json])
}

async function verifyOpenSite(invocation: Invocation): Promise<number> {
  const { values, signal } = invocation
  for (const name of ['key', 'witness', 'quorum', 'earlier']) {
    if (values[name] !== undefined) throw new CommandError(`--${name} is for an export`)
  }
  return await withSite(invocation, async (core) => {
    await ensureAuditTables(core.pg)
    const { findings, ...result } = await verifySite(core, {
      mode: values.incremental === true ? 'incremental' : 'full',
      runningSince: 0,
      onProgress: terminalProgress(),
      signal,
    })
    const total = findings.total()
    const found = { finding_count: total, findings: findings.list() }
    if (values.json === true) printJson({ ...result, checks: findings.summary(), ...found })
    else {
      const range = `positions ${result.fromPosition + 1} to ${result.toPosition}`
      const lines = [
        `Verified ${range} (${result.mode})`,
        ...checkLines(findings),
        resultLine(total),
        ...findings.list().map(findingLine),
      ]
      print(`${lines.join('\n')}\n`)
    }
    return total === 0 ? 0 : 1
  })
}

export const EXPORT: Verb = {
  form: 'export FOLDER [--from N] [--to N]',
  summary: 'Export events with proofs and a verifier',
  help: `Writes compressed segments, a manifest, checkpoints, keys and verify.mjs into the folder.
An interrupted export continues when it is run again with the same folder, and a complete one is
extended. A folder with the export of another site, history or range is refused.

  --from N   the position of the first event (default 1)
  --to N     the position of the last event (default: the last one)`,
  argumentsMax: 1,
  options: { from: { type: 'string' }, to: { type: 'string' } },
  run: async (invocation) => {
    const [folder] = invocation.positionals
    if (folder === undefined) throw new CommandError('export needs a folder')
    const [from = 1, to] = [positionOption(invocation, 'from'), positionOption(invocation, 'to')]
    if (to !== undefined && to < from) throw new CommandError('--to must not be less than --from')
    const progress = terminalProgress()
    return await withSite(invocation, async (core) => {
      verifyPosition('from', from, await recordsOf(core).head())
      const manifest = await writeExportFolder(exportSource(core), folder, {
        ...{ from, ...(to === undefined ? {} : { to }), exportedAt: new Date(core.now()) },
        onProgress: (position, last) => {
          invocation.signal.throwIfAborted()
          progress('events', position - from + 1, last - from + 1)
        },
      }).catch((error: unknown) => {
        throw error instanceof OtherExport ? new CommandError(error.message) : error
      })
      const { events, first, last } = manifest
      if (invocation.values.json === true) printJson({ folder, events, first, last })
      else print(`${events} events (positions ${first} to ${last}) in ${folder}\n`)
      return 0
    })
  },
}

export const REPLAY: Verb = {
  form: 'replay [READ_MODEL… | --until N]',
  summary: 'Rebuild read models, or copy them as of a position',
  help: `Without names, all read models are rebuilt. Their live versions stay
readable until the end, and the site may be running.

  --until N   build a scratch copy of all read models as of position N instead,
              which auditors open in the console

${PROJECTIONS.map(({ name }) => `  ${name}`).join('\n')}`,
  argumentsMax: Number.POSITIVE_INFINITY,
  options: { until: { type: 'string' } },
  run: async (invocation) => {
    const { positionals: names, values, signal } = invocation
    const until = positionOption(invocation, 'until')
    if (until !== undefined) {
      if (names.length > 0) throw new CommandError('--until copies all read models')
      return await withSite(invocation, (core) => replayUntil(invocation, core, until))
    }
    const unknown = names.find((name) => !PROJECTIONS.some((one) => one.name === name))
    if (unknown !== undefined) throw new CommandError(`"${unknown}" is not a read model`)
    const selected = PROJECTIONS.filter(({ name }) => names.length === 0 || names.includes(name))
    return await withSite(invocation, async (core) => {
      const progress = terminalProgress()
      const rebuilt = await rebuildReadModels(core, selected, foldContext(core), {
        onProgress: (done, total) => progress('events', done, total),
        signal,
      })
      const positions = [...rebuilt].map(([name, lanes]) => ({ name, position: lowestOf(lanes) }))
      if (values.json === true) printJson({ read_models: positions })
      else for (const { name, position } of positions) print(`${name}: up to ${position}\n`)
      return 0
    })
  },
}

const CHECK_INTERVAL_MS = 500

/**
 * Requests a scratch copy, which holds the read models as of a position, and waits until the copy
 * is built. A running site builds the copy. If no site is running, this process gets the builder's
 * lease and builds the copy itself. Returns the exit code.
 */
async function replayUntil(
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
      await delay(CHECK_INTERVAL_MS, undefined, { signal })
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
  const event = await store.eventAt(position)
  if (event === null) throw new CommandError(`--until: there is no event at position ${position}`)
  const id = randomUUID()
  const outcome = await actors.handle(
    auditJobsDecider,
    AUDIT_JOBS_STREAM,
    {
      ...{ type: 'RequestScratchCopy', id, position, asOf: event.meta.at },
      ...{ requestedBy: null, requestedAt: now(), ownMax: SCRATCH_COPIES_MAX },
    },
    { actor: 'system:audit', cause: id, at: now() },
  )
  if (outcome.isDone) return id
  throw new CommandError(`there are already ${outcome.error.params.max} copies: delete one first`)
}
