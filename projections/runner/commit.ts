import type { Pool } from 'pg'
import { type ProjectionName, schemaOf } from '../names.ts'
import type { Projection } from '../projection.ts'
import { moveCheckpoints } from './checkpoints.ts'
import { inTransaction } from './read-model.ts'
import type { RowChanges } from './row-changes.ts'
import { writeChanges } from './write-changes.ts'

export type Folded = {
  readonly projection: Projection
  /** The checkpoint that the changes were folded on. */
  readonly from: number
  readonly changes: RowChanges
}

/** Another process has moved a checkpoint: nothing was written. */
export class CheckpointMoved extends Error {
  constructor(names: readonly ProjectionName[]) {
    super(`the checkpoint of ${names.join(', ')} was moved by another process`)
    this.name = 'CheckpointMoved'
  }
}

/**
 * One transaction: every checkpoint compared and set to `to`, every row written.
 *
 * It commits without waiting for the disk: rows and checkpoint are lost together if Postgres dies,
 * and are then folded again from events, which are durable.
 */
export const commitFolds = (
  pg: Pool,
  folds: readonly Folded[],
  to: number,
  beforeCommit: (names: readonly ProjectionName[]) => void,
): Promise<void> => {
  const names = folds.map(({ projection }) => projection.name)
  return inTransaction(
    pg,
    async (client) => {
      const from = new Map(folds.map((fold) => [fold.projection.name, fold.from]))
      if (!(await moveCheckpoints(client, from, to))) throw new CheckpointMoved(names)
      for (const { projection, changes } of folds) {
        await writeChanges(client, projection, schemaOf(projection.name), changes)
      }
      beforeCommit(names)
    },
    'begin; set local synchronous_commit = off',
  )
}
