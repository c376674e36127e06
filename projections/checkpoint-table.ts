import { type CommonQueryMethods, type DatabasePool, sql } from 'slonik'
import { LANE_COUNT } from '#infra/event-bus/lane-of-stream.ts'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import type { ProjectionName } from './projection-names.ts'

/**
 * The view `checkpoint` shows one row per read model and lane. In an earlier release, `checkpoint`
 * was a table. Processes of that release can still run during an upgrade. A trigger lets these
 * processes move checkpoints.
 */
const CHECKPOINT_VIEW = `
create view projections.checkpoint as
  select d.name, l.lane, coalesce(l.positions[d.ordinal], 0) as position, d.definition
  from projections.lane l cross join projections.definition d;
create trigger update_checkpoint instead of update on projections.checkpoint
  for each row execute function projections.update_checkpoint();`

/**
 * The trigger function moves a checkpoint for a process of an earlier release. It keeps the
 * guarantee of the former table: if another process has moved the checkpoint or rebuilt the read
 * model, nothing is changed. The update of the view reads the row `old` before the function waits
 * for the lock of a rebuild, so `old` may be out of date. The first statement of the function takes
 * its snapshot after this wait, and compares the position with the position in `old`. The statement
 * also compares the definition, because a rebuild can keep the position.
 *
 * The function is replaced at each start, because earlier builds of this release compared only the
 * position.
 */
const UPDATE_CHECKPOINT = `
create or replace function projections.update_checkpoint() returns trigger language plpgsql
as $function$ begin
  update projections.lane l set positions[d.ordinal] = new.position
    from projections.definition d
    where l.lane = old.lane and d.name = old.name and d.definition = old.definition
      and l.positions[d.ordinal] = old.position;
  if not found then return null; end if;
  update projections.definition d set definition = new.definition
    where d.name = old.name and d.definition = old.definition
      and d.definition <> new.definition;
  return new;
end $function$;`

/**
 * A checkpoint is the position of the last event that a read model includes in one lane (stream
 * partition). Each batch updates all checkpoints of a process, so a lane has one row: `positions`
 * has a position for each read model. The index of this position is the `ordinal` of the read model
 * in `projections.definition`. Ordinals have no gaps. The fill factor of 25 leaves space for the
 * updates in the same page. Earlier releases had one row per read model and lane, and the first
 * release had one row per read model. The migration keeps the positions of these rows. The table
 * `ahead_of_events` contains the read models that include events which the store does not have; see
 * `runner/read-models-ahead-of-events.ts`.
 */
export const CHECKPOINT_TABLE = `
create table if not exists projections.definition (
  name text primary key,
  ordinal int2 not null unique,
  definition text not null
);
create table if not exists projections.lane (
  lane int2 primary key check (lane >= 0 and lane < ${LANE_COUNT}),
  positions bigint[] not null check (0 <= all (positions))
) with (fillfactor = 25);
${UPDATE_CHECKPOINT}
do $migrate$ begin
  -- An insert without this condition would wait for a running rebuild.
  if not exists (select from projections.lane) then
    insert into projections.lane
      select lane, '{}' from generate_series(0, ${LANE_COUNT - 1}) lane;
  end if;
  if exists (
    select from pg_class where oid = to_regclass('projections.checkpoint') and relkind = 'r'
  ) then
    lock table projections.checkpoint in access exclusive mode;
    if not exists (
      select from pg_attribute where attrelid = 'projections.checkpoint'::regclass
        and attname = 'lane' and not attisdropped
    ) then
      create table projections.checkpoint_with_lanes as
        select name, lane, position, definition
        from projections.checkpoint, generate_series(0, ${LANE_COUNT - 1}) lane;
      drop table projections.checkpoint;
      alter table projections.checkpoint_with_lanes rename to checkpoint;
    end if;
    insert into projections.definition
      select name, row_number() over (order by name), min(definition)
      from projections.checkpoint group by name;
    update projections.lane l set positions = (
      select array_agg(coalesce(c.position, 0) order by d.ordinal)
      from projections.definition d
      left join projections.checkpoint c on c.name = d.name and c.lane = l.lane
    )
    where exists (select from projections.definition);
    drop table projections.checkpoint;
  end if;
  if to_regclass('projections.checkpoint') is null then ${CHECKPOINT_VIEW}
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
