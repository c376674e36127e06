import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { isSame } from '#domain/shared/deep-equal.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { ErasureProgress } from '#infra/vault/port.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { foldedSchemaOf, foldingLockOf } from '../rebuild-and-verification-schemas/query.ts'
import { lowestOf, readCheckpoints } from './checkpoints.ts'
import { withNamedLocks } from './create-read-model-tables.ts'
import { type ComparedTables, type DifferingRow, findDifferingRows } from './find-differing-rows.ts'
import { type FoldOptions, foldIntoNewTables } from './fold-into-new-tables.ts'
import { liveTablesOf, readInSnapshot } from './read-in-snapshot.ts'
import { verificationErrorText } from './verification-error-text.ts'

export type VerificationResult = {
  readonly name: ProjectionName
  /**
   * The lowest position of all lanes. Each lane was compared at its checkpoint.
   */
  readonly position: number
  readonly isEqual: boolean
  /**
   * The name, the number of rows and the hash of each live table, as one text. `expected` is the
   * corresponding text for the newly folded tables.
   */
  readonly found: string
  readonly expected: string
  /**
   * `tables` are the names of the tables that differ. `rows` are the first differing rows that
   * could be identified.
   */
  readonly tables: readonly string[]
  readonly rows: readonly DifferingRow[]
  /** The error that occurred when the differing rows were searched, or null. */
  readonly rowsError: string | null
}

/**
 * Compares the hash of all rows of each read model with the hash of newly folded rows. The events
 * are read once for all read models. The live read models can keep advancing, because their rows
 * and checkpoints are read in one snapshot.
 */
export const verifyReadModels = (
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions = {},
): Promise<VerificationResult[]> =>
  withNamedLocks(
    core.pg,
    projections.map(({ name }) => foldingLockOf('verify', name)),
    () => verifyUntilSettled(core, projections, context, options),
  )

/**
 * The maximum number of comparisons of one read model. An erasure during a comparison makes the
 * comparison's result useless.
 */
const ATTEMPTS_MAX = 10
/** The maximum wait in milliseconds for running erasures before a comparison is repeated. */
const ERASED_WITHIN_MS = 30_000
const POLL_MS = 100

/**
 * Compares the read models. If some read models differ and a user was erased during the comparison,
 * compares these read models again. Their rows may have been read before the erasure, and their
 * events after the erasure. The erasure also drops the newly folded tables, because they contain
 * texts of the user.
 */
async function verifyUntilSettled(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions,
): Promise<VerificationResult[]> {
  const settled = new Map<ProjectionName, VerificationResult>()
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const open = projections.filter(({ name }) => !settled.has(name))
    const before = await core.vault.erasureProgress()
    const isDisturbed = async () => !isQuiet(before, await core.vault.erasureProgress())
    try {
      const results = await verifyTogether(core, open, context, options)
      const isFinal = results.every(({ isEqual }) => isEqual) || !(await isDisturbed())
      for (const result of results) {
        if (isFinal || result.isEqual) settled.set(result.name, result)
      }
    } catch (error) {
      if (options.signal?.aborted === true || !(await isDisturbed())) throw error
    }
    if (settled.size === projections.length) {
      return projections.flatMap(({ name }) => settled.get(name) ?? [])
    }
    await endOfErasures(core, options.signal)
  }
  throw new Error('the read models were not compared, because users were erased meanwhile')
}

/**
 * Reports whether no user was erased between `before` and `after`, and no erasure was running at
 * either time.
 */
const isQuiet = (before: ErasureProgress, after: ErasureProgress): boolean =>
  before.unfinished === 0 && isSame(before, after)

async function endOfErasures({ vault }: Core, signal: AbortSignal | undefined): Promise<void> {
  for (let waitedMs = 0; waitedMs < ERASED_WITHIN_MS; waitedMs += POLL_MS) {
    signal?.throwIfAborted()
    if ((await vault.erasureProgress()).unfinished === 0) return
    await delay(POLL_MS)
  }
}

async function verifyTogether(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions,
): Promise<VerificationResult[]> {
  const live = await readInSnapshot(core.pg, liveTablesOf(projections), (client) =>
    hashesOfLive(client, projections),
  )
  const targets = live.map(({ projection, positions }) => {
    return { projection, schema: checkSchemaOf(projection), upTo: positions }
  })
  try {
    await foldIntoNewTables(core, context, targets, { ...options, withIndexes: false })
    const results: VerificationResult[] = []
    for (const { projection, positions, found } of live) {
      const expected = await inTransaction(core.pg, (client) =>
        canonicalHash(client, checkSchemaOf(projection), tablesOf(projection)),
      )
      const tables = differingTables(found, expected)
      const compared = { projection, schema: checkSchemaOf(projection), positions }
      results.push({
        ...{ name: projection.name, position: lowestOf(positions), isEqual: found === expected },
        ...{ found, expected, tables, ...(await nameRows(core, compared, tables)) },
      })
    }
    return results
  } finally {
    for (const { schema } of targets) await core.pg.query(`drop schema if exists ${schema} cascade`)
  }
}

/**
 * Identifies the rows that differ. An error is returned instead of thrown, so that the result of
 * the verification is not lost. For example, the rows of a table can't be compared if the columns
 * of the table were changed.
 */
async function nameRows(
  { log, pg }: Core,
  compared: ComparedTables,
  tables: readonly string[],
): Promise<Pick<VerificationResult, 'rows' | 'rowsError'>> {
  if (tables.length === 0) return { rows: [], rowsError: null }
  try {
    const live = liveTablesOf([compared.projection])
    const rows = await readInSnapshot(pg, live, (client) =>
      findDifferingRows(client, compared, tables),
    )
    return { rows, rowsError: null }
  } catch (error) {
    const { name } = compared.projection
    log.warn({ err: error, readModel: name }, 'the rows of a read model could not be compared')
    return { rows: [], rowsError: verificationErrorText(error) }
  }
}

/** Returns the tables whose hash differs. Both texts list `table:rows:hash`. */
function differingTables(found: string, expected: string): string[] {
  const others = new Set(expected.split(' '))
  return found
    .split(' ')
    .filter((table) => !others.has(table))
    .map((table) => table.split(':')[0] ?? '')
}

const checkSchemaOf = ({ name }: Projection): string => foldedSchemaOf('verify', name)
const tablesOf = ({ tables }: Projection): string[] => Object.keys(tables)

async function hashesOfLive(client: PoolClient, projections: readonly Projection[]) {
  const checkpoints = await readCheckpoints(client)
  const live = []
  for (const projection of projections) {
    const positions = checkpoints.get(projection.name)?.positions ?? ALL_LANES.map(() => 0)
    const found = await canonicalHash(client, schemaOf(projection.name), tablesOf(projection))
    live.push({ projection, positions, found })
  }
  return live
}

/**
 * Hashes all rows of a read model, independent of their order. Each row is hashed with SHA-256. The
 * hashes of the rows are sorted and hashed in buckets, and the hashes of the buckets are hashed
 * together.
 */
async function canonicalHash(
  client: Pool | PoolClient,
  schema: string,
  tables: readonly string[],
): Promise<string> {
  const hashes: string[] = []
  for (const table of [...tables].sort()) {
    const { rows } = await client.query<{ hash: string | null; count: string }>(`
      select ${sha("string_agg(b.hash, '' order by b.bucket)")} as hash,
             coalesce(sum(b.count), 0) as count
      from (
        select left(r.hash, 3) as bucket, ${sha("string_agg(r.hash, '' order by r.hash)")} as hash,
               count(*) as count
        from (select ${sha('t::text')} as hash from ${schema}.${table} t) r
        group by 1
      ) b`)
    const [row] = rows
    hashes.push(`${table}:${row?.count}:${row?.hash ?? ''}`)
  }
  return hashes.join(' ')
}

const sha = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`
