import type { PoolClient } from 'pg'
import { accountStream } from '#domain/accounts/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { laneOf } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { type LanePositions, readCheckpoints } from './checkpoints.ts'
import { createTables, dropIndexes, withNamedLocks } from './create-read-model-tables.ts'
import { type DifferingRow, differingRowsOf } from './find-differing-rows.ts'
import { fold, isOutage } from './fold-events.ts'
import type { TypesOfTables } from './insert-rows-with-copy.ts'
import { liveTablesOf, readInSnapshot } from './read-in-snapshot.ts'
import { RowChanges } from './row-changes.ts'
import { writeChanges } from './write-row-changes.ts'

/**
 * A read model, and its tables in which each row comes from the events of only one account. These
 * `tables` have the column `user_id`.
 */
export type AccountRows = { readonly projection: Projection; readonly tables: readonly string[] }

export type DifferingAccountRows = {
  readonly name: ProjectionName
  readonly rows: readonly DifferingRow[]
}

/** An account and the number of its events. */
export type AccountToVerify = { readonly userId: number; readonly events: number }

export type VerifiedAccounts = {
  readonly differing: readonly DifferingAccountRows[]
  /** The accounts whose events cannot be folded, and whose rows were therefore not compared. */
  readonly failures: readonly { readonly userId: number; readonly error: unknown }[]
}

export type VerifyAccountsOptions = {
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal | undefined
}

/** The maximum number of accounts whose rows are copied and folded at once. */
const ACCOUNTS_AT_ONCE = 500
/**
 * The maximum number of events of the accounts that are compared at once, unless one account alone
 * has more.
 */
const EVENTS_AT_ONCE = 100_000
const EVENTS_PER_PAGE = 500
/** The maximum number of row changes that are kept in memory before they are written. */
const KEPT_MAX = 30_000

/**
 * Folds the events of the given accounts again, and compares the rows of these accounts with the
 * result, in all columns. Returns the first rows of each table that differ. Also returns the
 * accounts whose events cannot be folded. All other accounts are still compared. Only the streams
 * of the given accounts are read. The live read models can keep advancing: their rows and positions
 * are copied in one snapshot, and the events are folded up to these positions.
 */
export const verifyAccountRows = (
  core: Core,
  readModels: readonly AccountRows[],
  context: FoldContext,
  accounts: readonly AccountToVerify[],
  { onProgress = () => {}, signal }: VerifyAccountsOptions = {},
): Promise<VerifiedAccounts> =>
  withNamedLocks(core.pg, ['verify-accounts'], async () => {
    const differing: DifferingAccountRows[] = []
    const failures: VerifiedAccounts['failures'][number][] = []
    for (let done = 0; done < accounts.length; ) {
      signal?.throwIfAborted()
      onProgress(done, accounts.length)
      const userIds = nextBatch(accounts, done)
      const verified = await verifyBatch(core, readModels, context, userIds, signal)
      differing.push(...verified.differing)
      failures.push(...verified.failures)
      done += userIds.length
    }
    onProgress(accounts.length, accounts.length)
    return { differing, failures }
  })

/**
 * Returns the users of the next batch, at least one. The number of events in a batch is limited,
 * because its rows are in the database twice during the comparison.
 */
export function nextBatch(accounts: readonly AccountToVerify[], first: number): number[] {
  const userIds: number[] = []
  let total = 0
  for (const { userId, events } of accounts.slice(first, first + ACCOUNTS_AT_ONCE)) {
    total += events
    if (userIds.length > 0 && total > EVENTS_AT_ONCE) break
    userIds.push(userId)
  }
  return userIds
}

type Batch = AccountRows & { readonly schema: string; readonly positions: LanePositions }

async function verifyBatch(
  core: Core,
  readModels: readonly AccountRows[],
  context: FoldContext,
  userIds: readonly number[],
  signal: AbortSignal | undefined,
): Promise<VerifiedAccounts> {
  const schemas = readModels.map(({ projection }) => `${schemaOf(projection.name)}_check_accounts`)
  try {
    const batch = await readInSnapshot(
      core.pg,
      liveTablesOf(readModels.map(({ projection }) => projection)),
      (client) => copyLiveRows(client, readModels, schemas, userIds),
      { isWritable: true },
    )
    const types: TypesOfTables = new Map()
    const failures: VerifiedAccounts['failures'][number][] = []
    for (const userId of userIds) {
      try {
        await foldAccount(core, batch, { context, types, signal }, accountStream(userId))
      } catch (error) {
        if (signal?.aborted === true || isOutage(error)) throw error
        failures.push({ userId, error })
        await removeRows(core, batch, userId)
      }
    }
    const differing = await inTransaction(core.pg, (client) => compareBatch(client, batch))
    return { differing, failures }
  } finally {
    for (const schema of schemas) {
      await core.pg.query(`drop schema if exists ${schema} cascade`)
    }
  }
}

/** Removes the copied and the folded rows of an account, so that they are not compared. */
async function removeRows({ pg }: Core, batch: readonly Batch[], userId: number): Promise<void> {
  for (const { schema, tables } of batch) {
    for (const table of tables) {
      await pg.query(`delete from ${schema}.${table} where user_id = $1`, [userId])
      await pg.query(`delete from ${schema}.live_${table} where user_id = $1`, [userId])
    }
  }
}

/** Creates the tables to fold into, and copies of the live rows beside them, in one snapshot. */
async function copyLiveRows(
  client: PoolClient,
  readModels: readonly AccountRows[],
  schemas: readonly string[],
  userIds: readonly number[],
): Promise<Batch[]> {
  const checkpoints = await readCheckpoints(client)
  const batch: Batch[] = []
  for (const [index, { projection, tables }] of readModels.entries()) {
    const schema = schemas[index] ?? ''
    await createTables(client, projection, schema)
    // The tables are dropped after the comparison, so writing them to the WAL would only cost time
    // and space, also in replicas and archives.
    for (const table of Object.keys(projection.tables)) {
      await client.query(`alter table ${schema}.${table} set unlogged`)
    }
    // The rows are written once and joined as a whole, so indexes would only cost time.
    const appendOnly = tables.filter((table) => projection.tables[table]?.isAppendOnly === true)
    await dropIndexes(client, schema, appendOnly)
    for (const table of tables) {
      const live = `${schemaOf(projection.name)}.${table}`
      await client.query(`create unlogged table ${schema}.live_${table} (like ${live})`)
      await client.query(
        `insert into ${schema}.live_${table} select * from ${live} where user_id = any($1)`,
        [userIds],
      )
    }
    const positions = checkpoints.get(projection.name)?.positions ?? []
    batch.push({ projection, tables, schema, positions })
  }
  return batch
}

type Folding = {
  readonly context: FoldContext
  readonly types: TypesOfTables
  readonly signal: AbortSignal | undefined
}

async function foldAccount(
  core: Core,
  batch: readonly Batch[],
  { context, types, signal }: Folding,
  stream: string,
): Promise<void> {
  const lane = laneOf(stream)
  const folds = batch.map((one) => ({ ...one, changes: new RowChanges() }))
  const write = async (keptMax: number) => {
    const due = folds.filter(({ changes }) => changes.size > keptMax)
    const changes = due.map((one) => ({ ...one, changes: one.changes.take(true) }))
    if (changes.length === 0) return
    await inTransaction(
      core.pg,
      (client) => writeChanges(client, changes, { types, isOnlyWriter: true }),
      { begin: 'begin; set local synchronous_commit = off' },
    )
  }
  for (let revision = 0; ; ) {
    signal?.throwIfAborted()
    const events = await core.store.readStream(stream, revision, EVENTS_PER_PAGE)
    for (const { projection, positions, changes } of folds) {
      const end = positions[lane] ?? 0
      await fold(projection, events, ({ position }) => position <= end, context, changes)
    }
    await write(KEPT_MAX)
    const last = events.at(-1)
    if (last === undefined || events.length < EVENTS_PER_PAGE) break
    revision = last.revision + 1
  }
  await write(0)
}

async function compareBatch(
  client: PoolClient,
  batch: readonly Batch[],
): Promise<DifferingAccountRows[]> {
  const found: DifferingAccountRows[] = []
  for (const { projection, tables, schema } of batch) {
    const rows: DifferingRow[] = []
    for (const table of tables) {
      const sources = { folded: `${schema}.${table}`, live: `${schema}.live_${table}` }
      const key = projection.tables[table]?.key ?? []
      rows.push(...(await differingRowsOf(client, table, sources, key)))
    }
    if (rows.length > 0) found.push({ name: projection.name, rows })
  }
  return found
}
