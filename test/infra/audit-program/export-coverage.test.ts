import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { MANIFEST_FILE, type Manifest } from '#infra/audit-program/export-format.ts'
import { openExport } from '#infra/audit-program/export-reader.ts'
import { exportFiles } from '#infra/audit-program/generate-export-files.ts'
import { parseSignedCheckpoint } from '#infra/audit-program/signed-checkpoint.ts'
import { leafHash, type StoredRecord } from '#infra/audit-program/stored-record.ts'
import type { RecordReader } from '#infra/audit-program/stored-record-reader.ts'
import { reportText } from '#infra/audit-program/verification-report-text.ts'
import { type VerifyOptions, verifyExport } from '#infra/audit-program/verify-export.ts'
import { checkpointSigner } from './checkpoint-signer.ts'
import { consistentHistory } from './consistent-history.ts'
import { consistencyPath, rootOf } from './naive-tree.ts'

const folder = mkdtempSync(join(tmpdir(), 'coverage-'))
afterAll(() => rmSync(folder, { recursive: true }))

const EVENTS = 1_000
const SITE = checkpointSigner('site.example/log')
const WITNESS = checkpointSigner('witness.example', 4)
const OTHER = checkpointSigner('other.example', 4)

/** A history of which each event is one second later than the one before. */
const HISTORY = recordsOf()
const LEAVES = HISTORY.map(leafHash)

function recordsOf(): StoredRecord[] {
  const revisions = new Map<string, number>()
  const records: StoredRecord[] = []
  for (const append of consistentHistory(EVENTS)) {
    for (const { stream, events } of append) {
      for (const { id, type, v, data, meta } of events) {
        const revision = (revisions.get(stream) ?? -1) + 1
        revisions.set(stream, revision)
        const position = records.length + 1
        const at = meta.at + position * 1_000
        records.push({ position, stream, revision, id, type, v, at, ...placeOf(meta, data) })
      }
    }
  }
  return records
}

function placeOf({ actor, cause }: { actor: string; cause: string | null }, data: unknown) {
  return { actor, cause, data: JSON.stringify(data) }
}

const readerOf = (records: readonly StoredRecord[]): RecordReader => ({
  read: async (after, limit) =>
    records.filter(({ position }) => position > after && position <= after + limit),
  readStream: async () => [],
  head: async () => records.length,
  arePositionsDense: true,
})

/** The checkpoint of a size, which the witness has signed as well if `isWitnessed`. */
function checkpoint(size: number, isWitnessed = false): string {
  const root = rootOf(LEAVES.slice(0, size))
  const note = SITE.sign(size, root)
  if (!isWitnessed) return note
  return `${note}${WITNESS.sign(size, root, 'site.example/log').split('\n\n')[1]}`
}

type Exporting = {
  readonly signed: readonly string[]
  readonly records?: readonly StoredRecord[]
  readonly from?: number
  readonly to?: number
  /** Changes the manifest, as someone who hands the export on could. */
  readonly edit?: (manifest: Manifest) => unknown
}

let exports = 0

async function exported({ signed, records = HISTORY, edit, ...range }: Exporting) {
  exports += 1
  const target = join(folder, `${exports}`)
  const tree = {
    ...{ signedCheckpoints: signed, keys: [SITE.key], witnessKeys: [] },
    consistencyProof: async (size: number, newSize: number) =>
      consistencyPath(size, LEAVES.slice(0, newSize)),
  }
  const source = { records: readerOf(records), sealedTree: async () => tree }
  for await (const { name, bytes } of exportFiles(source, { exportedAt: new Date(0), ...range })) {
    mkdirSync(dirname(join(target, name)), { recursive: true })
    const isEdited = name === MANIFEST_FILE && edit !== undefined
    const content = isEdited ? JSON.stringify(edit(JSON.parse(String(bytes)))) : (bytes ?? '')
    writeFileSync(join(target, name), content)
  }
  return target
}

const reportOf = (path: string, options: VerifyOptions = {}) =>
  verifyExport(openExport(path), { keys: [SITE.key], ...options })

const foundIn = async (path: string, options: VerifyOptions = {}) =>
  (await reportOf(path, options)).findings
    .list()
    .map(({ check, position }) => `${check} ${position ?? ''}`.trim())

describe('an export', () => {
  it('may end with events that were too new to be signed', async () => {
    const path = await exported({ signed: [checkpoint(500), checkpoint(900)] })
    expect(await foundIn(path)).toEqual([])
    expect((await reportOf(path)).notChecked).toContain(
      'The last 100 events are in no signed checkpoint yet.',
    )
  })

  it('is refused without the signed checkpoints of its events', async () => {
    expect(await foundIn(await exported({ signed: [] }))).toEqual(['signed-checkpoints 1'])
    const few = await exported({ signed: [checkpoint(100), checkpoint(600)] })
    expect(await foundIn(few)).toEqual(['signed-checkpoints 601'])
  })

  it('of a part is covered by the next checkpoint of the site', async () => {
    const signed = [checkpoint(100), checkpoint(900), checkpoint(1_000)]
    const path = await exported({ signed, from: 51, to: 776 })
    const report = await reportOf(path)
    expect(report.findings.list()).toEqual([])
    expect(report).toMatchObject({ first: 51, last: 776, sealedSize: 776 })
    const edit = ({ continuation: _, ...others }: Manifest) => others
    const without = await exported({ signed, from: 51, to: 776, edit })
    expect(await foundIn(without)).toEqual(['signed-checkpoints 101'])
    const changed = HISTORY.map((one) => (one.position === 700 ? { ...one, actor: 'x' } : one))
    const other = await exported({ signed, records: changed, from: 51, to: 776 })
    expect(await foundIn(other)).toEqual(['signed-checkpoints', 'signed-checkpoints 101'])
  })

  it('does not count a checkpoint of other events as compared', async () => {
    const path = await exported({ signed: [checkpoint(1_000)], from: 501 })
    const report = await reportOf(path, { earlier: [checkpoint(300), checkpoint(600)] })
    expect(report.findings.list()).toEqual([])
    expect(report.checked).toContain('1 checkpoints that you gave.')
    expect(report.notChecked).toContain(
      '1 checkpoints that you gave: they are not of these events.',
    )
  })

  it('needs the signatures of the witnesses that the caller names', async () => {
    const path = await exported({ signed: [checkpoint(500, true), checkpoint(1_000)] })
    const keys = [WITNESS.key, OTHER.key]
    expect(await foundIn(path)).toEqual([])
    expect(await foundIn(path, { witnesses: [WITNESS.key] })).toEqual(['signed-checkpoints 501'])
    expect(await foundIn(path, { witnesses: keys })).toEqual(['signed-checkpoints 1'])
    const last = await exported({ signed: [checkpoint(1_000, true)] })
    expect(await foundIn(last, { witnesses: [WITNESS.key] })).toEqual([])
    expect(await foundIn(last, { witnesses: keys, quorum: 1 })).toEqual([])
    expect(await foundIn(last, { witnesses: [OTHER.key] })).toEqual(['signed-checkpoints 1'])
  })

  it('counts neither the key of the site as a witness, nor a key of another kind', async () => {
    const note = checkpoint(1_000)
    const { root } = parseSignedCheckpoint(note)
    const other = checkpointSigner('third.example')
    const signature = other.sign(1_000, root, 'site.example/log').split('\n\n')[1]
    const path = await exported({ signed: [`${note}${signature}`] })
    const codesOf = async (key: string) => {
      const report = await reportOf(path, { witnesses: [key] })
      return report.findings.list().map(({ code }) => code)
    }
    expect(await codesOf(other.key)).toEqual(['KeyNotOfWitness', 'EventsNotWitnessed'])
    expect(await codesOf(SITE.key)).toEqual(['KeyNotOfWitness', 'EventsNotWitnessed'])
    const own = SITE.cosigner()
    expect(await codesOf(own.key)).toEqual(['WitnessKeyOfSite', 'EventsNotWitnessed'])
    // A site that witnesses other sites has a second key, under the name of its log and "/witness".
    const second = checkpointSigner('site.example/log/witness', 4)
    const confirmed = second.sign(1_000, root, 'site.example/log').split('\n\n')[1]
    const confirmedPath = await exported({ signed: [`${note}${confirmed}`] })
    const { findings } = await reportOf(confirmedPath, { witnesses: [second.key] })
    expect(findings.list()).toMatchObject([
      { code: 'WitnessKeyOfSite' },
      { code: 'EventsNotWitnessed' },
    ])
  })

  it('counts a witness once, however often and under which names its key is given', async () => {
    const renamed = WITNESS.renamed('witness-2.example')
    const note = checkpoint(1_000, true)
    const { root } = parseSignedCheckpoint(note)
    const again = renamed.sign(1_000, root, 'site.example/log').split('\n\n')[1]
    const path = await exported({ signed: [`${note}${again}`] })
    for (const other of [WITNESS.key, renamed.key]) {
      const twice = [WITNESS.key, other]
      expect(await foundIn(path, { witnesses: twice })).toEqual([])
      const witnesses = [...twice, OTHER.key]
      expect(await foundIn(path, { witnesses, quorum: 2 })).toEqual(['signed-checkpoints 1'])
    }
  })
})

const BOMB_BYTES = 500 * 1024 * 1024
const BOMB_MEMBERS = 10
const TELL_MEMORY = `data:text/javascript,process.on('exit',()=>process.stderr.write(
  'memory'+process.resourceUsage().maxRSS))`

/** Runs the verifier of an export in a process of its own. The memory is its maximum in bytes. */
async function verifiedApart(path: string): Promise<{ text: string; memory: number }> {
  const args = ['--import', TELL_MEMORY.replaceAll(/\s+/g, ''), join(path, 'verify.mjs'), path]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_error, stdout, stderr) => {
      const [, kilobytes = ''] = /memory(\d+)/.exec(stderr) ?? []
      resolve({ text: stdout, memory: Number(kilobytes) * 1_024 })
    })
  })
}

describe('a hostile export', () => {
  const signed = [checkpoint(1_000)]
  const segment = 'segments/000000000001-000000001000.ndjson.gz'

  it('can not name files outside of its folder, links or pipes', async () => {
    const edit = (name: string) => (manifest: Manifest) => ({
      ...manifest,
      segments: manifest.segments.map((one) => ({ ...one, name })),
    })
    const outside = await exported({ signed, edit: edit('../../../../../../dev/zero') })
    expect((await reportOf(outside)).findings.list()[0]?.detail).toContain('is missing')
    for (const command of [['ln', '-sf', '/dev/zero'], ['mkfifo']] as const) {
      const path = await exported({ signed })
      rmSync(join(path, segment))
      execFileSync(command[0], [...command.slice(1), join(path, segment)])
      expect((await reportOf(path)).findings.list()[0]?.detail).toContain('is missing')
    }
    const linked = await exported({ signed })
    rmSync(join(linked, MANIFEST_FILE))
    symlinkSync('/dev/zero', join(linked, MANIFEST_FILE))
    await expect(reportOf(linked)).rejects.toThrow('there is no manifest.json')
  })

  it('can not make the verifier count forever', async () => {
    const path = await exported({ signed })
    writeFileSync(
      join(path, MANIFEST_FILE),
      JSON.stringify({
        ...{ format: 'tallygate-audit-export', version: 1, segments: [], signedCheckpoints: [] },
        ...{ keys: [], witnessKeys: [], treeBefore: { size: 0, subtrees: [] } },
      }).replace('"size":0', '"size":1e999'),
    )
    await expect(reportOf(path)).rejects.toThrow('the manifest is incomplete')
    const header = Buffer.alloc(1_024)
    header.write('manifest.json', 0)
    header.write('-0000001000', 124)
    header.write('ustar', 257)
    writeFileSync(join(folder, 'endless.tar'), header)
    expect(() => openExport(join(folder, 'endless.tar'))).toThrow('is not an export')
  })

  it('can not fill the memory with one line', async () => {
    const path = await exported({ signed })
    writeFileSync(join(path, segment), gzipSync(Buffer.alloc(65 * 1024 * 1024, 'a')))
    const { findings } = await reportOf(path)
    expect(findings.list().map(({ detail }) => detail)).toContainEqual(
      expect.stringContaining('has a line of more than 67108864 bytes'),
    )
  })

  it.each([
    ['zeros', 0, 'has a line of more than 67108864 bytes'],
    ['line breaks', 10, 'has more than 10000 lines'],
  ])('can not fill the memory with 500 MB of %s', async (_name, byte, detail) => {
    const path = await exported({ signed })
    const member = gzipSync(Buffer.alloc(BOMB_BYTES / BOMB_MEMBERS, byte))
    writeFileSync(join(path, segment), Buffer.concat(Array(BOMB_MEMBERS).fill(member)))
    const { text, memory } = await verifiedApart(path)
    expect(text).toContain(detail)
    expect(memory).toBeGreaterThan(0)
    // Node itself needs about 60 MB, and the longest line 64 MB, at most three times at once.
    expect(memory).toBeLessThan(300 * 1024 * 1024)
  })

  it('may have a segment that is larger than the longest line', async () => {
    const path = await exported({ signed })
    const line = gzipSync(`${'a'.repeat(40 * 1024 * 1024)}\n`)
    writeFileSync(join(path, segment), Buffer.concat([line, line, line]))
    const { findings } = await reportOf(path)
    const details = findings.list().map(({ detail }) => detail)
    expect(details).toContainEqual(expect.stringContaining('event 3 of'))
    expect(details.join()).not.toContain('has a line of')
  })

  it('can not write to the terminal of the reader', async () => {
    const stream = 'account-7\u001b[2J\u202eNothing was found.'
    const records = HISTORY.map((one) => (one.position === 9 ? { ...one, stream } : one))
    const text = reportText(await reportOf(await exported({ signed, records })), 1)
    expect(text).toContain('\\u001b[2J\\u202e')
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })
})
