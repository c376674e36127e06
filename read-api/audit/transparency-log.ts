import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { cosignaturesOf } from '#infra/audit-program/build-receipts-of-events.ts'
import { bundleOfflineVerifier } from '#infra/audit-program/bundle-offline-verifier.ts'
import { recordsOf } from '#infra/audit-program/open-sealed-log.ts'
import { parseVerifierKey } from '#infra/audit-program/signed-checkpoint.ts'
import { encodedRecord } from '#infra/audit-program/stored-record.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { witnessCheckpoint } from '#infra/transparency-log/cosign-checkpoint-as-witness.ts'
import { TILE_WIDTH } from '#infra/transparency-log/merkle-tree.ts'
import { ensureLogSchema, openTransparencyLog, readLog } from '#infra/transparency-log/open-log.ts'
import {
  type LogCheckpoint,
  listCheckpoints,
  parseTilePath,
  readKeyRotations,
  readTile,
} from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import {
  type SignedCheckpoint,
  transparencyLogQueries,
  type Witness,
} from '../contract/transparency-log.ts'
import { type App, integerOf, type ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'

const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 100
const TEXT = 'text/plain; charset=utf-8'
const WITNESS_REQUEST_BYTES_MAX = 64 * 1024

/**
 * `GET /api/transparency-log/status`: the keys, the witnesses and the latest checkpoint of the log.
 * This route needs no login.
 */
export function getLogStatus(app: App, { core }: ReadDeps): void {
  app.addHook('onReady', () => ensureLogSchema(core))
  app.route({
    ...endpoint(transparencyLogQueries, 'GET /api/transparency-log/status'),
    handler: async () => {
      const { quorum } = core.config.transparencyLog
      const [latest] = await listCheckpoints(core.pg, 1)
      const others = {
        ...{ witnesses: await witnessesOf(core), refusals: await refusalsOf(core), quorum },
      }
      if (latest === undefined) {
        const unsealed = { origin: null, key: null, witness_key: null, latest: null }
        const key_rotations: string[] = []
        return success({ ...unsealed, key_rotations, ...others })
      }
      const { origin = '', verifierKey: key = '' } = (await readLog(core.pg)) ?? {}
      const witnessKey = await openTransparencyLog(core).then(
        ({ witness }) => witness.witnessKey,
        () => null,
      )
      return success({
        ...{ origin, key, witness_key: witnessKey, ...others },
        key_rotations: await readKeyRotations(core.pg),
        latest: signedCheckpoint(core, latest),
      })
    },
  })
}

/**
 * `GET /api/audit/signed-checkpoints` and `GET /api/audit/checkpoints`: the signed checkpoints, the
 * latest one first.
 */
export function listSignedCheckpoints(app: App, { core }: ReadDeps): void {
  const paths = ['GET /api/audit/signed-checkpoints', 'GET /api/audit/checkpoints'] as const
  for (const path of paths) {
    app.route({
      ...endpoint(transparencyLogQueries, path),
      onRequest: onlyAuditor,
      handler: async ({ query }) => {
        const limit = Math.min(integerOf(query.limit) || PAGE_SIZE, PAGE_SIZE_MAX)
        const found = await listCheckpoints(core.pg, limit + 1, integerOf(query.cursor))
        const items = found.slice(0, limit).map((checkpoint) => signedCheckpoint(core, checkpoint))
        const cursor = found.length > limit ? (items.at(-1)?.size ?? null) : null
        return success({ items, next_cursor: cursor })
      },
    })
  }
}

/**
 * `GET /transparency-log/checkpoint` and `/transparency-log/tile/…`, as specified by C2SP
 * tlog-tiles. These routes need no login, because tiles contain only hashes. The checkpoint and the
 * tiles are also served at the root, as `/checkpoint` and `/tile/…`. `/transparency-log/verify.mjs`
 * is the offline verifier.
 */
export function serveTiles(app: App, { core }: ReadDeps): void {
  for (const path of ['/transparency-log/checkpoint', '/checkpoint']) {
    app.get(path, async (_request, reply) => {
      const [latest] = await listCheckpoints(core.pg, 1)
      if (latest === undefined) throw auditError('NothingSealed')
      return reply.type(TEXT).header('cache-control', 'no-cache').send(latest.note)
    })
  }
  // Customers need the verifier to check their receipts, so this route needs no login.
  app.get('/transparency-log/verify.mjs', async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('content-disposition', 'attachment; filename="verify.mjs"')
      .header('cache-control', 'no-cache')
      .send(bundleOfflineVerifier()),
  )
  for (const path of ['GET /transparency-log/tile/*', 'GET /tile/*'] as const) {
    app.route({
      ...endpoint(transparencyLogQueries, path),
      handler: async ({ params }, reply) => {
        const address = parseTilePath(params['*'])
        if (address === null || address.level === 'entries') throw auditError('TileUnknown')
        const hashes = await readTile(core.pg, address.level, address.index, address.width)
        if (hashes === null) throw auditError('TileUnknown')
        reply.header('cache-control', 'public, max-age=31536000, immutable')
        return reply.type('application/octet-stream').send(hashes)
      },
    })
  }
}

/**
 * `GET /transparency-log/tile/entries/…` and `/tile/entries/…`: the events whose hashes are in a
 * tile, for auditors. Each event is preceded by its length in 4 bytes. The 2 bytes of the
 * specification are too few, because an event may exceed 65 535 bytes.
 */
export function serveEntries(app: App, { core }: ReadDeps): void {
  for (const path of ['GET /transparency-log/tile/entries/*', 'GET /tile/entries/*'] as const) {
    app.route({
      ...endpoint(transparencyLogQueries, path),
      onRequest: onlyAuditor,
      handler: async ({ params }, reply) => {
        const entries = await readEntries(core, `entries/${params['*']}`)
        if (entries === null) throw auditError('TileUnknown')
        return reply.type('application/octet-stream').send(entries)
      },
    })
  }
}

/**
 * Returns the events whose hashes are in a tile, each preceded by its length. Returns null if the
 * tile does not exist.
 */
async function readEntries(core: Core, path: string): Promise<Buffer | null> {
  const address = parseTilePath(path)
  if (address === null) return null
  const { index, width } = address
  const hashes = await readTile(core.pg, 0, index, width)
  if (hashes === null) return null
  const { rows } = await core.pg.query<{ first_position: string }>(
    'select first_position from transparency_log.tiles where level = 0 and index = $1',
    [index],
  )
  const first = Number(rows[0]?.first_position ?? index * TILE_WIDTH + 1)
  const records = await recordsOf(core).read(first - 1, width)
  const entries = records.map((record) => {
    const entry = encodedRecord(record)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(entry.length)
    return Buffer.concat([length, entry])
  })
  return Buffer.concat(entries)
}

/**
 * `POST /transparency-log/witness/add-checkpoint`, as specified by C2SP tlog-witness. Signs
 * checkpoints of the logs whose keys are configured.
 */
export function answerAsWitness(app: App, { core }: ReadDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const options = { parseAs: 'string', bodyLimit: WITNESS_REQUEST_BYTES_MAX } as const
    scope.addContentTypeParser('*', options, (_request, body, done) => done(null, body))
    scope.post('/transparency-log/witness/add-checkpoint', async (request, reply) => {
      const keys = core.config.transparencyLog.witnessedKeys
      if (keys.length === 0) throw auditError('NoWitness')
      const { witness } = await openTransparencyLog(core)
      const deps = { pg: core.pg, witness, keys, now: core.now }
      const { status, text } = await witnessCheckpoint(deps, String(request.body ?? ''))
      const type = status === 409 ? 'text/x.tlog.size' : TEXT
      return reply.status(status).type(type).send(text)
    })
  })
}

function signedCheckpoint(core: Core, checkpoint: LogCheckpoint): SignedCheckpoint {
  const { size, lastPosition, root, note, createdAt } = checkpoint
  const cosignatures = cosignaturesOf(core, note)
  return {
    ...{ size, last_position: lastPosition, root: root.toString('base64'), note, cosignatures },
    created_at: createdAt,
    is_final: cosignatures.length >= core.config.transparencyLog.quorum,
  }
}

async function witnessesOf(core: Core): Promise<Witness[]> {
  const recent = await listCheckpoints(core.pg, 50)
  return core.config.transparencyLog.witnesses.map(({ key }) => {
    const { name } = parseVerifierKey(key)
    for (const { note, size } of recent) {
      const found = cosignaturesOf(core, note).find(({ witness }) => witness === name)
      if (found !== undefined) return { name, key, size, signed_at: found.signed_at }
    }
    return { name, key, size: null, signed_at: null }
  })
}

const refusalsOf = ({ actors }: Core) =>
  actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, ({ refusals }) =>
    refusals.map(({ id, witness, size, refusedAt, acknowledgedAt, ...refusal }) => ({
      ...{ id, witness, size, refused_at: Math.floor(refusedAt / 1_000) },
      ...{ refused_size: refusal.refusedSize, refused_root: refusal.refusedRoot ?? null },
      acknowledged_at: acknowledgedAt === null ? null : Math.floor(acknowledgedAt / 1_000),
    })),
  )
