import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ACCOUNT_READ_MODELS } from '#infra/audit-program/compare-account-rows.ts'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { exportFiles } from '#infra/audit-program/generate-export-files.ts'
import { exportSource } from '#infra/audit-program/open-sealed-log.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { startCore } from '#infra/start-core.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import {
  foldContext,
  type ProjectionRunner,
  startProjections,
} from '#projections/runner/start-projections.ts'
import { verifyAccountRows } from '#projections/runner/verify-account-rows.ts'
import { consistentHistory } from '../infra/audit-program/consistent-history.ts'

/**
 * One step of the audit bench, in a process that does nothing else, so that the highest memory is
 * that of the step. Parameters: the step, the folder of the export, events, accounts, ms between
 * two calls.
 */
const [step = '', folder = '', ...history] = process.argv.slice(2)
const [events = 0, accounts = 0, stepMs = 10] = history.map(Number)

export type StepFigures = {
  readonly seconds: number
  /** The CPU seconds of this process. */
  readonly cpuSeconds: number
  /** The highest resident memory of this process. */
  readonly megabytesMax: number
}

/** Appends at once, which the store writes as one transaction. */
const APPENDS_AT_ONCE = 8

async function fill({ store }: Core): Promise<void> {
  const pending = new Set<Promise<unknown>>()
  for (const append of consistentHistory(events, accounts, stepMs)) {
    const written: Promise<unknown> = store.append(append).finally(() => pending.delete(written))
    pending.add(written)
    if (pending.size >= APPENDS_AT_ONCE) await Promise.race(pending)
  }
  await Promise.all(pending)
}

/** Seals all events, also if an earlier run has sealed them. */
async function seal(core: Core): Promise<void> {
  await core.pg.query('drop schema if exists transparency_log cascade')
  await ensureLogSchema(core)
  const log = await openTransparencyLog(core)
  const { pg, now } = core
  const deps = { pg, log, readLeaves: leafReader(core), arePositionsDense: true, now }
  while ((await sealEvents(deps)) > 0);
}

async function writeExport(core: Core): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  for await (const { name, bytes } of exportFiles(exportSource(core), { exportedAt: new Date() })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes ?? '')
  }
}

async function verifyOffline(): Promise<void> {
  const report = await verifyExport(openExport(folder))
  const { findings, events: verified, sealedSize } = report
  if (findings.total() > 0 || verified !== sealedSize || verified < events) {
    throw new Error(`${verified} events, ${sealedSize} sealed: ${JSON.stringify(findings.list())}`)
  }
}

/** Starts the read models, and waits until they have followed the events, as on a running site. */
async function startFollowed(core: Core): Promise<ProjectionRunner> {
  const runner = await startProjections(core)
  const isBehind = () =>
    runner.health().some(({ lanes, position }) => lanes < LANE_COUNT || position < events)
  while (isBehind()) await delay(20)
  return runner
}

async function rebuild(core: Core): Promise<StepFigures> {
  const runner = await startFollowed(core)
  const figures = await measured(async () => {
    await runner.rebuild(PROJECTION_NAMES)
  })
  await runner.stop()
  return figures
}

/** Compares the rows of all accounts, of which a nightly verification compares a sixth. */
async function compareAccounts(core: Core): Promise<StepFigures> {
  const runner = await startFollowed(core)
  await runner.stop()
  const all = Array.from({ length: accounts }, (_, index) => {
    return { userId: index + 1, events: Math.ceil(events / accounts) }
  })
  return await measured(async () => {
    const found = await verifyAccountRows(core, ACCOUNT_READ_MODELS, foldContext(core), all)
    const { differing, failures } = found
    if (differing.length + failures.length > 0) throw new Error(JSON.stringify(found))
  })
}

async function withCore(work: (core: Core) => Promise<StepFigures>): Promise<StepFigures> {
  const { core, close } = await startCore(readConfig(process.env))
  const figures = await work(core)
  await close()
  return figures
}

const onCore = (work: (core: Core) => Promise<void>) => () =>
  withCore((core) => measured(() => work(core)))

const STEPS: Readonly<Record<string, () => Promise<StepFigures>>> = {
  append: onCore(fill),
  seal: onCore(seal),
  export: onCore(writeExport),
  'verify offline': () => measured(verifyOffline),
  'rebuild all read models': () => withCore(rebuild),
  'compare accounts': () => withCore(compareAccounts),
}

async function measured(work: () => Promise<void>): Promise<StepFigures> {
  const [begin, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return {
    seconds: (performance.now() - begin) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    megabytesMax: process.resourceUsage().maxRSS / 1_024,
  }
}

process.send?.((await STEPS[step]?.()) ?? null)
process.disconnect?.()
