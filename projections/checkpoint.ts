import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { z } from 'zod'
import { wireInteger } from '#infra/postgres/row-types.ts'
import type { ProjectionName } from './names.ts'

/** Where each read model is: the position of the last event it includes. */
export const CHECKPOINT_TABLE = `
create table if not exists projections.checkpoint (
  name text primary key,
  position bigint not null check (position >= 0),
  definition text not null
)`

export const CHECKPOINT_SCHEMA = 'projections'

export type AtPosition<Row> = {
  /** The read model includes every event up to here, and none after. */
  readonly position: number
  readonly rows: readonly Row[]
}

/** Reads rows and the checkpoint they belong to from one snapshot. */
export function atCheckpoint<Row>(
  db: DatabasePool,
  name: ProjectionName,
  read: (snapshot: CommonQueryMethods) => Promise<readonly Row[]>,
): Promise<AtPosition<Row>> {
  return db.transaction(async (snapshot) => {
    await snapshot.query(sql.unsafe`set transaction isolation level repeatable read, read only`)
    const position = await snapshot.oneFirst(sql.type(z.object({ position: wireInteger }))`
      select position from projections.checkpoint where name = ${name}
    `)
    return { position, rows: await read(snapshot) }
  })
}
