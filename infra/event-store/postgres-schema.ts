import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/**
 * The channel of `notify` on which commits are announced. The payload is the position of the last
 * event.
 */
export const CHANNEL = 'event_store'

/**
 * The tables of the event store. The lock on the row in `head` orders all commits. `data` is of
 * type text, so that exactly the written bytes are read.
 */
const DDL = `
  create table if not exists event_store.head (
    is_only boolean primary key default true check (is_only),
    position int8 not null
  ) with (fillfactor = 10);
  insert into event_store.head (position) values (0) on conflict do nothing;
  create table if not exists event_store.streams (
    stream text collate "C" primary key,
    revision int8 not null
  ) with (fillfactor = 60);
  create table if not exists event_store.events (
    position int8 not null,
    stream text collate "C" not null,
    revision int8 not null,
    id uuid not null,
    type text collate "C" not null,
    v int2 not null,
    data text collate "C" not null,
    actor text collate "C" not null,
    cause text collate "C",
    at int8 not null,
    primary key (position)
  ) partition by range (position);
  create or replace function event_store.append(
    streams text[], expected int8[], reached int8[], appends int8[],
    event_streams text[], revisions int8[], ids uuid[], types text[], versions int2[],
    bodies text[], actors text[], causes text[], times int8[]
  ) returns int8[] language plpgsql as $append$
  declare
    before int8;
    actual int8[];
    wrong int8[];
    kept_out text[];
    written int8 := cardinality(ids);
  begin
    update event_store.head h set position = h.position + written
      returning h.position - written into before;
    select array_agg(coalesce(s.revision, -1) order by g.place),
        array_agg(g.append) filter (where coalesce(s.revision, -1) <> g.wanted)
      into actual, wrong
      from unnest(streams, expected, appends) with ordinality g(stream, wanted, append, place)
        left join event_store.streams s on s.stream = g.stream;
    if wrong is null then
      insert into event_store.events
        (position, stream, revision, id, type, v, data, actor, cause, at)
        select before + e.place, e.stream, e.revision, e.id, e.type, e.v, e.data, e.actor,
          e.cause, e.at
        from unnest(event_streams, revisions, ids, types, versions, bodies, actors, causes, times)
          with ordinality e(stream, revision, id, type, v, data, actor, cause, at, place);
      insert into event_store.streams as s (stream, revision)
        select g.stream, g.revision
          from unnest(streams, expected, reached) g(stream, wanted, revision)
        where g.revision > g.wanted
        on conflict (stream) do update set revision = excluded.revision;
      perform pg_notify('${CHANNEL}', (before + written)::text);
      return array[before];
    end if;
    -- If one stream has another revision, its whole append is left out, but no other append.
    select array_agg(g.stream) into kept_out
      from unnest(streams, appends) g(stream, append) where g.append = any (wrong);
    with added as (
      insert into event_store.events
        (position, stream, revision, id, type, v, data, actor, cause, at)
        select before + row_number() over (order by e.place), e.stream, e.revision, e.id, e.type,
          e.v, e.data, e.actor, e.cause, e.at
        from unnest(event_streams, revisions, ids, types, versions, bodies, actors, causes, times)
          with ordinality e(stream, revision, id, type, v, data, actor, cause, at, place)
        where e.stream <> all (kept_out)
      returning 1
    ) select count(*) into written from added;
    insert into event_store.streams as s (stream, revision)
      select g.stream, g.revision
        from unnest(streams, expected, reached) g(stream, wanted, revision)
      where g.revision > g.wanted and g.stream <> all (kept_out)
      on conflict (stream) do update set revision = excluded.revision;
    update event_store.head set position = before + written;
    if written > 0 then perform pg_notify('${CHANNEL}', (before + written)::text); end if;
    return array[before] || actual;
  end
  $append$;
`

/**
 * Appends one event to an existing stream. If the stream's revision is not $2, the event's stream
 * is null, so the statement fails and writes nothing. Like the function `append`, the statement
 * locks the row in `head` first, which prevents deadlocks.
 */
export const APPEND_EVENT = `
  with head as (
    update event_store.head h set position = h.position + 1 returning h.position
  ), moved as (
    update event_store.streams s set revision = s.revision + 1
      where s.stream = $1 and s.revision = $2 returning s.stream
  ), event as (
    insert into event_store.events
      (position, stream, revision, id, type, v, data, actor, cause, at)
      select head.position, (select stream from moved), $2::int8 + 1, $3, $4, $5, $6, $7, $8, $9
        from head
      returning position
  )
  select position, pg_notify('${CHANNEL}', position::text) from event`

export async function ensureEventSchema(pg: Pool): Promise<void> {
  await ensureSchema(pg, 'event_store', DDL)
}

/**
 * Creates the partition of `position` and the next one. A new partition is first created as a
 * table, because attaching a table does not block appends.
 */
export async function ensurePartitions(pg: Pool, position: number, size: number): Promise<void> {
  const current = Math.floor(position / size)
  for (const index of [current, current + 1]) {
    const name = `events_${index}`
    const { rows } = await pg.query<{ is_there: boolean }>(
      `select exists (select from pg_inherits where inhparent = 'event_store.events'::regclass
        and inhrelid = to_regclass($1)) is_there`,
      [`event_store.${name}`],
    )
    if (rows[0]?.is_there) continue
    await ensureSchema(pg, 'event_store', partitionDdl(name, index * size, (index + 1) * size))
  }
}

/**
 * Returns repeatable DDL for a partition. NOTE: a query checks whether the partition exists,
 * because `to_regclass` can use a cache from before the lock was acquired.
 */
const partitionDdl = (name: string, from: number, to: number): string => `
  do $partition$ begin
    if not exists (
      select from pg_class where relname = '${name}' and relnamespace = 'event_store'::regnamespace
    ) then
      create table event_store.${name} (
        like event_store.events,
        primary key (position),
        unique (stream, revision),
        check (position >= ${from} and position < ${to})
      );
      alter table event_store.events attach partition event_store.${name}
        for values from (${from}) to (${to});
    end if;
  end $partition$;
`
