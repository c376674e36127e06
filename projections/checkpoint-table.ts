import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { ProjectionName } from './projection-names.ts'

/**
 * A checkpoint is the position of the last event that a read model includes in one lane (stream
 * partition). Each batch updates all checkpoints of a process. The fill factor of 25 leaves space
 * for these updates in the same page. In the first release, a read model had one position, which
 * the migration copies to all lanes. The table `ahead_of_events` contains the read models that
 * include events which the store does not have; see `runner/read-models-ahead-of-events.ts`.
 */
export const CHECKPOINT_TABLE = `
do $migrate$ begin
  if exists (
    select from pg_attribute where attrelid = to_regclass('projections.checkpoint')
      and attname = 'name'
  ) and not exists (
    select from pg_attribute where attrelid = to_regclass('projections.checkpoint')
      and attname = 'lane'
  ) then
    alter table projections.checkpoint rename to checkpoint_without_lanes;
  end if;
end $migrate$;
create table if not exists projections.checkpoint (
  name text,
  lane int2 check (lane >= 0 and lane < ${LANE_COUNT}),
  position bigint not null check (position >= 0),
  definition text not null,
  primary key (name, lane)
) with (fillfactor = 25);
do $migrate$ begin
  if to_regclass('projections.checkpoint_without_lanes') is not null then
    insert into projections.checkpoint
      select name, lane, position, definition
      from projections.checkpoint_without_lanes, generate_series(0, ${LANE_COUNT - 1}) lane;
    drop table projections.checkpoint_without_lanes;
  end if;
end $migrate$;
create table if not exists projections.ahead_of_events (
  name text primary key,
  reached bigint not null,
  head bigint not null
)`

export const CHECKPOINT_SCHEMA = 'projections'

export type AtPosition<Row> = {
  /**
   * The rows include every event up to this position. In some lanes, they also include later
   * events. A reader that continues from this position may receive those events again.
   */
  readonly position: number
  readonly rows: readonly Row[]
}

/** Reads rows and the checkpoint of their read model in one consistent snapshot. */
export function atCheckpoint<Row>(
  db: DatabasePool,
  name: ProjectionName,
  read: (snapshot: CommonQueryMethods) => Promise<readonly Row[]>,
): Promise<AtPosition<Row>> {
  return db.transaction(async (snapshot) => {
    await snapshot.query(sql.unsafe`set transaction isolation level repeatable read, read only`)
    const position = await snapshot.oneFirst(sql.type(rowType({ position: wireInteger }))`
      select coalesce(min(position), 0) as position from projections.checkpoint where name = ${name}
    `)
    return { position, rows: await read(snapshot) }
  })
}
