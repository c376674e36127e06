import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EVENTS_PER_SEGMENT, SEGMENT_BYTES_MAX } from '#infra/audit-program/export-format.ts'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { exportSource } from '#infra/audit-program/open-sealed-log.ts'
import { verifyExport } from '#infra/audit-program/verify-export.ts'
import { OtherExport, writeExportFolder } from '#infra/audit-program/write-export-folder.ts'
import type { RunningCore } from '#infra/start-core.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testCore } from '#test/support/test-core.ts'

const folder = mkdtempSync(join(tmpdir(), 'export-folder-'))
afterAll(() => rmSync(folder, { recursive: true }))

const site = startedOnce(() => testCore())
const other = startedOnce(() => testCore())

async function appendAndSeal({ core }: RunningCore, count: number): Promise<void> {
  const meta = { actor: 'user:1', cause: null, at: 1 }
  const events = Array.from({ length: count }, () => ({
    ...{ id: randomUUID(), type: 'Noted', v: 1, data: {}, meta },
  }))
  if (count > 0) await core.store.append([{ stream: 'user-1', expected: 'any', events }])
  await ensureLogSchema(core)
  const log = await openTransparencyLog(core)
  const deps = { pg: core.pg, log, readLeaves: leafReader(core), arePositionsDense: true }
  await sealEvents({ ...deps, now: core.now })
}

beforeAll(async () => {
  await appendAndSeal(site, 9)
  await appendAndSeal(other, 9)
})

const write = ({ core }: RunningCore, name: string, range: { from?: number; to?: number } = {}) =>
  writeExportFolder(exportSource(core), join(folder, name), { ...range, exportedAt: new Date(0) })

const filesIn = (name: string) =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => [file, readFileSync(join(parentPath, file), 'hex')])

describe('a folder with an export', () => {
  it.each([
    ['an earlier start', { from: 5 }, { from: 1 }, 'position 5, not 1'],
    ['a later start', {}, { from: 5 }, 'position 1, not 5'],
    ['fewer events', {}, { to: 7 }, 'up to position 9, not 7'],
  ])('is not replaced by one of %s', async (name, first, second, reason) => {
    await write(site, name, first)
    const before = filesIn(name)
    const writing = write(site, name, second)
    await expect(writing).rejects.toThrow(OtherExport)
    await expect(writing).rejects.toThrow(reason)
    expect(filesIn(name)).toEqual(before)
  })

  it('is not replaced by one of another site', async () => {
    await write(site, 'other')
    const before = filesIn('other')
    await expect(write(other, 'other')).rejects.toThrow('another site')
    expect(filesIn('other')).toEqual(before)
  })

  it.each([
    ['of as many events', 4],
    ['of more events', 6],
    ['of fewer events', 2],
  ])('is not replaced by one of a history %s that was rewritten and signed again', async (_, n) => {
    const running = await testCore()
    try {
      const { core } = running
      await appendAndSeal(running, 4)
      const name = `rewritten-${n}`
      await write(running, name)
      const before = filesIn(name)
      await core.pg.query("update event_store.events set actor = 'user:2' where position = 2")
      await core.pg.query(
        `delete from event_store.events where position > ${n};
         truncate transparency_log.tiles, transparency_log.checkpoints;
         update transparency_log.log set size = 0, last_position = 0`,
      )
      await appendAndSeal(running, Math.max(0, n - 4))
      const writing = write(running, name)
      await expect(writing).rejects.toThrow(OtherExport)
      await expect(writing).rejects.toThrow('another history')
      expect(filesIn(name)).toEqual(before)
    } finally {
      await running.close()
    }
  })

  it('is not replaced if its manifest can not be read', async () => {
    await write(site, 'broken')
    writeFileSync(join(folder, 'broken', 'manifest.json'), '{')
    await expect(write(site, 'broken')).rejects.toThrow(OtherExport)
  })

  it('is extended without hashing the events before its start twice', async () => {
    await write(site, 'once', { from: 6, to: 8 })
    const source = exportSource(site.core)
    const reads = vi.spyOn(source.records, 'read')
    await writeExportFolder(source, join(folder, 'once'), { from: 6, exportedAt: new Date(0) })
    expect(reads.mock.calls.filter(([after]) => after < 5)).toHaveLength(1)
  })

  it('is continued and extended by the same export', async () => {
    await write(site, 'same', { from: 3, to: 6 })
    expect(await write(site, 'same', { from: 3 })).toMatchObject({ first: 3, last: 9 })
    rmSync(join(folder, 'same', 'manifest.json'))
    expect(await write(site, 'same', { from: 3 })).toMatchObject({ first: 3, last: 9 })
    const { findings } = await verifyExport(openExport(join(folder, 'same')))
    expect(findings.list()).toEqual([])
  })
})

describe('the manifest of an export', () => {
  it('is small enough to be read for twelve billion events', async () => {
    const { segments, ...manifest } = await write(site, 'sized')
    const [segment] = segments
    // Numbers as long as those of the last segment.
    const digits = { first: 12_000_000_001, last: 12_000_010_000, events: 10_000, bytes: 9_999_999 }
    const entry = { ...segment, ...digits }
    const bytesWith = (entries: readonly object[]) =>
      JSON.stringify({ ...manifest, segments: entries }, null, 2).length
    const bytesPerSegment = bytesWith([entry, entry]) - bytesWith([entry])
    expect(segment?.sealed).toBeDefined()
    const others = bytesWith([]) + 10_000 * 1_000
    const count = Math.floor((SEGMENT_BYTES_MAX - others) / bytesPerSegment)
    expect(count * EVENTS_PER_SEGMENT).toBeGreaterThan(12_000_000_000)
  })
})
