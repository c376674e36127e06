import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runAuditProgram } from '#infra/audit-program/audit-program.ts'
import { readNotes } from '#infra/audit-program/offline-verifier.ts'
import { exportSource } from '#infra/audit-program/open-sealed-log.ts'
import { notesIn } from '#infra/audit-program/signed-checkpoint.ts'
import { writeExportFolder } from '#infra/audit-program/write-export-folder.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { leafReader } from '#infra/transparency-log/leaf-hashes.ts'
import { ensureLogSchema, openTransparencyLog } from '#infra/transparency-log/open-log.ts'
import { publishCheckpoints } from '#infra/transparency-log/publish-checkpoints.ts'
import { sealEvents } from '#infra/transparency-log/seal-events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { testCore } from '#test/support/test-core.ts'

const splitNotes = (text: string): string[] => [...notesIn(text.split('\n'))]

const folder = mkdtempSync(join(tmpdir(), 'earlier-'))
afterAll(() => rmSync(folder, { recursive: true }))

const site = startedOnce(() => testCore())
const target = join(folder, 'export')
const file = join(folder, 'checkpoints')
let key = ''

/** Seals three times, publishes each checkpoint to a file, and exports the events. */
beforeAll(async () => {
  const { core } = site
  await ensureLogSchema(core)
  const log = await openTransparencyLog(core)
  key = log.signer.verifierKey
  const transparencyLog = { ...core.config.transparencyLog, file }
  const outbound = createOutbound(operatorPolicy(core.config))
  for (let sealed = 0; sealed < 3; sealed += 1) {
    const meta = { actor: 'user:1', cause: null, at: 1 }
    const event = { id: randomUUID(), type: 'Noted', v: 1, data: {}, meta }
    await core.store.append([{ stream: 'user-1', expected: 'any', events: [event] }])
    const deps = { pg: core.pg, log, readLeaves: leafReader(core), arePositionsDense: true }
    await sealEvents({ ...deps, now: core.now })
    await publishCheckpoints({ ...core, config: { ...core.config, transparencyLog }, outbound })
  }
  await outbound.close()
  await writeExportFolder(exportSource(core), target, { exportedAt: new Date(0) })
})

async function runCommand(...args: string[]): Promise<[code: number, text: string]> {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const code = await runAuditProgram(['verify', ...args], {}, new AbortController().signal)
    return [code, output.mock.calls.join('')]
  } finally {
    output.mockRestore()
  }
}

const runOffline = (...args: string[]): Promise<[code: number, text: string]> =>
  new Promise((resolve) => {
    const verifier = join(target, 'verify.mjs')
    const child = execFile(process.execPath, [verifier, ...args], (_error, text) =>
      resolve([child.exitCode ?? -1, text]),
    )
  })

describe.each([
  ['npm run audit', runCommand],
  ['verify.mjs', runOffline],
])('the file to which the site appends its checkpoints, given to %s', (_, run) => {
  it('confirms the events at each of its checkpoints', async () => {
    const [code, text] = await run(target, '--key', key, '--earlier', file)
    expect(text).toContain('3 checkpoints that you gave.')
    expect([code, text]).toEqual([0, expect.stringContaining('Nothing was found.')])
  })

  it('is read as a whole, also if it has many checkpoints', async () => {
    const many = join(folder, 'many')
    const notes = readFileSync(file, 'utf8')
    writeFileSync(many, notes.repeat(Math.ceil(120_000 / notes.length)))
    const [, later] = splitNotes(notes)
    appendFileSync(many, `${later?.replace('\n2\n', '\n1\n')}`)
    const [code, text] = await run(target, '--key', key, '--earlier', many)
    expect([code, text]).toEqual([1, expect.stringContaining('checkpoint of size 1')])
  })
})

describe.each([
  ['npm run audit', runCommand],
  ['verify.mjs', runOffline],
])('a file of checkpoints of any size, given to %s', (_, run) => {
  it('is read line by line, and a line that is too long is reported', async () => {
    const large = join(folder, 'large')
    // The rest of the file is one line of zeros, which need no room on the disk.
    writeFileSync(large, readFileSync(file))
    truncateSync(large, 300 * 1024 * 1024)
    const [code, text] = await run(target, '--key', key, '--earlier', large)
    expect(text).toContain('3 checkpoints that you gave.')
    expect([code, text]).toEqual([1, expect.stringContaining('is not signed')])
  })
})

describe('signed notes', () => {
  const note = (size: number) => `origin\n${size}\nroot\n\n— origin AAAA\n— witness BBBB\n`

  it('are the same after they were joined and split', () => {
    const notes = [note(1), note(2), note(3)]
    expect(splitNotes(notes.map((one) => `${one}\n`).join(''))).toEqual(notes)
    expect(splitNotes(notes.join('\n\n'))).toEqual(notes)
    expect(splitNotes(note(1))).toEqual([note(1)])
    expect(splitNotes(note(1).trimEnd())).toEqual([note(1)])
    expect(splitNotes('')).toEqual([])
  })

  it('are the same wherever the file is cut into chunks', () => {
    const path = join(folder, 'chunks')
    for (const offset of [0, 1, 17, 65_530, 65_535]) {
      const long = `${'é'.repeat(30_000)}${'x'.repeat(offset)}`
      const notes = [note(1), `${long}\n7\nroot\n\n— origin AAAA\n`, note(3)]
      writeFileSync(path, notes.map((one) => `${one}\n`).join(''))
      expect([...readNotes(path)]).toEqual(notes)
    }
  })

  it('without signatures or without a text are kept', () => {
    const unsigned = 'origin\n7\nroot\n'
    expect(splitNotes(`${unsigned}\n${note(1)}`)).toEqual([unsigned, note(1)])
    expect(splitNotes(`${note(1)}\n${unsigned}`)).toEqual([note(1), unsigned])
    expect(splitNotes('— origin AAAA\n')).toEqual(['\n\n— origin AAAA\n'])
  })
})
