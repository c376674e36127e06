import { Findings } from '#domain/audit/findings.ts'
import type { Core } from '../core-dependencies.ts'
import { leafReader } from '../transparency-log/leaf-hashes.ts'
import { openTransparencyLog } from '../transparency-log/open-log.ts'
import { type RebuiltTiles, rebuildLostTiles } from '../transparency-log/rebuild-lost-tiles.ts'
import {
  type Invocation,
  print,
  printJson,
  terminalProgress,
  type Verb,
  withSite,
} from './cli-verb.ts'
import { openSealedLog } from './open-sealed-log.ts'
import { KeyRing } from './trusted-log-keys.ts'
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
