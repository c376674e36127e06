import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { type Move, moveCheckpoints } from './checkpoints.ts'
import type { TypesOfTables } from './insert-rows-with-copy.ts'
import type { Cursor } from './lane-cursors-and-projection-health.ts'
import type { RowChanges } from './row-changes.ts'
import { writeChanges } from './write-row-changes.ts'

/**
 * The idle time in milliseconds after which Postgres ends the transaction. NOTE: without this
 * limit, a stalled process would keep its locks, and other processes could not take over its lanes.
 */
const IDLE_MAX_MS = 3_000

const BEGIN = `begin; set local synchronous_commit = off;
  set local idle_in_transaction_session_timeout = ${IDLE_MAX_MS}`

/** The time limit of the transaction in milliseconds, equal to the pool's limit for a query. */
const TRANSACTION_MS_MAX = 15_000

/** The row changes of one projection, and its new checkpoints in some lanes. */
export type Folded = {
  readonly projection: Projection
  readonly moves: readonly (Move & { readonly cursor: Cursor })[]
  readonly changes: RowChanges
}

/**
 * The error for a checkpoint that another process has moved. The transaction has written nothing.
 */
export class CheckpointMoved extends Error {
  constructor(names: readonly ProjectionName[]) {
    super(`the checkpoint of ${names.join(', ')} was moved by another process`)
    this.name = 'CheckpointMoved'
  }
}

/** The error for lanes that another process may own by now. The transaction has written nothing. */
export class LanesLost extends Error {
  readonly lanes: ReadonlySet<number>
  constructor(lanes: readonly number[]) {
    super(`lanes ${lanes.join(', ')} may be another process's now`)
    this.name = 'LanesLost'
    this.lanes = new Set(lanes)
  }
}

export type CommitDeps = {
  readonly pg: Pool
  readonly isStillMine: (client: PoolClient, lanes: readonly number[]) => Promise<boolean>
  readonly beforeCommit: (names: readonly ProjectionName[]) => void
  /** The column types of the tables that are written with COPY. */
  readonly types: TypesOfTables
  /**
   * The time limit of the transaction in milliseconds. This limit must be longer than a batch
   * normally takes.
   */
  readonly withinMs?: number
}

/**
 * Commits folded batches in one transaction. The transaction checks that this process still owns
 * the lanes. Locks are taken in the order leases, checkpoints, rows. The commit does not wait for
 * the disk. If a crash of Postgres loses rows, it loses their checkpoints as well, so the events
 * are folded again.
 */
export const commitFolds = (
  { pg, isStillMine, beforeCommit, types, withinMs = TRANSACTION_MS_MAX }: CommitDeps,
  folds: readonly Folded[],
): Promise<void> => {
  const names = folds.map(({ projection }) => projection.name)
  const moves = folds.flatMap((fold) => fold.moves)
  const lanes = [...new Set(moves.map(({ lane }) => lane))]
  return inTransaction(
    pg,
    async (client) => {
      // Both statements are sent at once. Postgres executes them in this order.
      const [isMine, isMoved] = await Promise.all([
        isStillMine(client, lanes),
        moveCheckpoints(client, moves),
      ])
      if (!isMine) throw new LanesLost(await lostOf(client, lanes, isStillMine))
      if (!isMoved) throw new CheckpointMoved(names)
      await writeChanges(
        client,
        folds.map(({ projection, changes }) => ({
          projection,
          changes,
          schema: schemaOf(projection.name),
        })),
        { types, isOnlyWriter: false },
      )
      beforeCommit(names)
    },
    { begin: BEGIN, withinMs },
  )
}

async function lostOf(
  client: PoolClient,
  lanes: readonly number[],
  isStillMine: CommitDeps['isStillMine'],
): Promise<number[]> {
  const lost: number[] = []
  for (const lane of lanes) if (!(await isStillMine(client, [lane]))) lost.push(lane)
  return lost
}
