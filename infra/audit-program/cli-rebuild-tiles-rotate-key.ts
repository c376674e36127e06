import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { Findings } from '#domain/audit/findings.ts'
import { bytesOf } from '../config/transparency-log-config.ts'
import type { Core } from '../core-dependencies.ts'
import { createOutbound } from '../outbound/outbound-connections.ts'
import { operatorPolicy } from '../outbound/outbound-policy.ts'
import { publishKeyRotations } from '../transparency-log/ask-witnesses.ts'
import { leafReader } from '../transparency-log/leaf-hashes.ts'
import { openTransparencyLog } from '../transparency-log/open-log.ts'
import { type RebuiltTiles, rebuildLostTiles } from '../transparency-log/rebuild-lost-tiles.ts'
import { rotateLogKey } from '../transparency-log/rotate-log-key.ts'
import {
  CommandError,
  type Invocation,
  print,
  printJson,
  terminalProgress,
  type Verb,
  withSite,
} from './cli-verb-and-site-access.ts'
import { openSealedLog } from './open-sealed-log.ts'
import { KeyRing, parseKeyRotation } from './trusted-log-keys.ts'
import { countOf, findingLine } from './verification-report-text.ts'

export const REBUILD_TILES: Verb = {
  form: 'rebuild-tiles',
  summary: 'Rebuild lost tiles of the transparency log',
  help: `Computes the tiles that are missing or incomplete again, from the events. They are compared
with the other tiles and with the latest signed checkpoint before anything is stored. If they do
not agree, an event was changed: nothing is stored, the events are named, and the exit code is 1.
The site may be running. No event is sealed meanwhile, and none is lost.`,
  argumentsMax: 0,
  options: {},
  run: (invocation) =>
    withSite(invocation, async (core) => {
      const { lost, findings: found } = await rebuildTilesOf(core, invocation)
      const findings = new Findings()
      for (const finding of found) findings.reportCoded('transparency-log', null, finding)
      const total = findings.total()
      if (invocation.values.json === true) {
        printJson({
          ...{ lost: lost.length, tiles: lost.slice(0, LISTED_MAX), is_rebuilt: total === 0 },
          ...{ finding_count: total, findings: findings.list() },
        })
      } else print(textOf(lost, findings))
      return total === 0 ? 0 : 1
    }),
}

const LISTED_MAX = 100

async function rebuildTilesOf(core: Core, { signal }: Invocation): Promise<RebuiltTiles> {
  const log = await openSealedLog(core)
  if (log === null) return { lost: [], findings: [] }
  const { signer } = await openTransparencyLog(core)
  const progress = terminalProgress()
  return await rebuildLostTiles({
    ...{ pg: core.pg, readLeaves: leafReader(core), ownKey: signer.verifierKey, signal },
    arePositionsDense: core.config.eventStore.url === null,
    keys: new KeyRing(log.keys, log.keyRotations),
    onProgress: (done, total) => progress('tiles', done, total),
  })
}

function textOf(lost: readonly string[], findings: Findings): string {
  if (lost.length === 0) return 'No tile is lost.\n'
  const tiles = `${lost.length} ${lost.length === 1 ? 'tile' : 'tiles'}`
  const named = lost.length > LISTED_MAX ? [...lost.slice(0, LISTED_MAX), '…'] : lost
  if (findings.total() === 0) return `${tiles} rebuilt from the events: ${named.join(', ')}\n`
  const lines = [
    `${tiles} lost: ${named.join(', ')}`,
    `Nothing was rebuilt. ${countOf(findings.total())}:`,
    ...findings.list().map(findingLine),
  ]
  return `${lines.join('\n')}\n`
}

export const ROTATE_KEY: Verb = {
  form: 'rotate-key FILE',
  summary: 'Replace the key that signs checkpoints',
  help: `Replaces the key of the transparency log by the one in FILE: 32 bytes as base64. If the
file does not exist, it is created with a random key. The last sealed events are signed with both
keys, and the witnesses are told. The old key is not accepted for any later checkpoint.

  1. Run this with the environment of the site. The site may be running.
  2. Set TRANSPARENCY_LOG_KEY to the content of FILE, restart the site, and delete FILE.

Until then nothing is sealed, and the alarm transparency-log-stopped is logged; no event is lost.
If the command is interrupted, run it again with the same FILE. Publish the new key as you
published the old one.`,
  argumentsMax: 1,
  options: {},
  run: async (invocation) => {
    const [file, ...others] = invocation.positionals
    if (file === undefined || others.length > 0) throw new CommandError('rotate-key needs one FILE')
    const seed = keyIn(file) ?? createKey(file)
    return await withSite(invocation, async (core) => {
      const { newKey, note, isRotatedNow } = await rotateLogKey(core, seed)
      await recordRotation(core, note)
      const outbound = createOutbound(operatorPolicy(core.config))
      const witnesses = await publishKeyRotations({ ...core, outbound })
      await outbound.close()
      if (invocation.values.json === true) {
        printJson({ key: newKey, note, is_rotated_now: isRotatedNow, witnesses })
      } else {
        print(isRotatedNow ? 'The key was rotated.\n' : 'The key was rotated before.\n')
        for (const { key, error } of witnesses) print(`witness ${key}: ${error ?? 'has signed'}\n`)
        print(`${note}\nThe new key:\n\n${newKey}\n\n`)
        print(`Set TRANSPARENCY_LOG_KEY to the content of ${file} and restart the site.\n`)
      }
      return 0
    })
  },
}

/**
 * Appends an event about the key rotation, unless an earlier run of the command has appended it.
 */
async function recordRotation({ actors, now }: Core, note: string): Promise<void> {
  const { oldKey, newKey, size: treeSize } = parseKeyRotation(note)
  const command = { type: 'RecordKeyRotation', oldKey, newKey, treeSize, rotatedAt: now() } as const
  const context = { actor: 'system:audit', cause: null, at: now() }
  await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
}

/** Returns the signing key in a file, or null if the file does not exist. */
function keyIn(file: string): Uint8Array | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return bytesOf(file, text.trim())
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

/**
 * Creates a signing key in a file that only its owner can read. The key is written to disk before
 * it is used. If it were used earlier, a crash could lose the only copy of the key, and nobody
 * could sign the log after that.
 */
function createKey(file: string): Uint8Array {
  const seed = randomBytes(32)
  const temporary = `${file}.${process.pid}`
  try {
    writeSynced(temporary, `${seed.toString('base64')}\n`)
    linkSync(temporary, file)
    const folder = openSync(dirname(file), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch (error) {
    throw new CommandError(`${file} cannot be created: ${(error as Error).message}`)
  } finally {
    rmSync(temporary, { force: true })
  }
  return seed
}

function writeSynced(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600)
  writeSync(handle, text)
  fsyncSync(handle)
  closeSync(handle)
}
