import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { addColumn, ensureSchema } from '../postgres/ensure-schema.ts'
import type { Vault } from '../vault/port.ts'

/**
 * The state of a stream after the event with this `revision`. `position` is the global position of
 * the same event.
 */
export type Snapshot = {
  readonly version: number
  readonly revision: number
  readonly position: number
  readonly state: unknown
}

/**
 * The store of snapshots. A lost snapshot does no harm, because snapshots only make streams load
 * faster.
 */
export type Snapshots = {
  readonly load: (stream: string) => Promise<Snapshot | null>
  /** Saves a snapshot, unless the stored snapshot has the same revision or a later one. */
  readonly save: (stream: string, snapshot: Snapshot) => Promise<void>
}

export function createMemorySnapshots(): Snapshots {
  const kept = new Map<string, string>()
  const read = (stream: string): Snapshot | null => {
    const text = kept.get(stream)
    return text === undefined ? null : JSON.parse(text)
  }
  return {
    load: async (stream) => read(stream),
    save: async (stream, snapshot) => {
      if ((read(stream)?.revision ?? -1) < snapshot.revision) {
        kept.set(stream, JSON.stringify(snapshot))
      }
    },
  }
}

const DDL = `
  create table if not exists snapshots.states (
    stream text collate "C" primary key,
    version int not null,
    revision int8 not null,
    position int8 not null,
    state text not null
  );
  ${addColumn('snapshots.states', 'mac', 'text')}
  -- The rows of earlier releases have no MAC. They are deleted once, so that a row without one can
  -- only come from somebody who has changed the table.
  do $$ begin
    if exists (select from information_schema.columns where table_schema = 'snapshots'
        and table_name = 'states' and column_name = 'mac' and is_nullable = 'YES') then
      delete from snapshots.states where mac is null;
      alter table snapshots.states alter column mac set not null;
    end if;
  end $$;
  -- The snapshots of accounts are the most frequent and mostly random ids. Compressing 320 KB of
  -- them saves a third of the space, and takes Postgres more time than all else about the snapshot.
  -- The change waits at most two seconds for a lock, because the next start can make it as well.
  do $$ begin
    if (select attstorage from pg_attribute
        where attrelid = 'snapshots.states'::regclass and attname = 'state') <> 'e' then
      perform set_config('lock_timeout', '2s', true);
      alter table snapshots.states alter column state set storage external;
    end if;
  exception when lock_not_available then null;
  end $$`

type Row = {
  readonly version: number
  readonly revision: string
  readonly position: string
  readonly state: string
  /** Null only if somebody has changed the table in the database. */
  readonly mac: string | null
}

type Deps = {
  readonly pg: Pool
  readonly vault: Pick<Vault, 'keyedHash'>
  readonly log: Pick<Logger, 'error'>
}

const macWith =
  (vault: Deps['vault']) =>
  (stream: string, { version, revision, position, state }: Snapshot): string =>
    vault.keyedHash('snapshot', JSON.stringify([stream, version, revision, position, state]))

const SNAPSHOTS_PER_PAGE = 200

/**
 * Compares the MAC of each stored snapshot with its row. Yields, for each page, how many snapshots
 * were compared, and the streams whose snapshot was changed in the database. A row without a MAC
 * counts as changed.
 */
export async function* findChangedSnapshots({
  pg,
  vault,
}: Pick<Deps, 'pg' | 'vault'>): AsyncGenerator<{
  readonly compared: number
  readonly changed: readonly string[]
}> {
  const macOf = macWith(vault)
  for (let after = ''; ; ) {
    const { rows } = await pg.query<Row & { readonly stream: string }>(
      `select stream, version, revision, position, state, mac from snapshots.states
        where stream > $1 order by stream limit ${SNAPSHOTS_PER_PAGE}`,
      [after],
    )
    const changed = rows.filter(({ stream, version, state, mac, ...place }) => {
      const [revision, position] = [Number(place.revision), Number(place.position)]
      return mac !== macOf(stream, { version, revision, position, state })
    })
    yield { compared: rows.length, changed: changed.map(({ stream }) => stream) }
    const last = rows.at(-1)
    if (last === undefined || rows.length < SNAPSHOTS_PER_PAGE) return
    after = last.stream
  }
}

/**
 * Creates the store of snapshots in Postgres. A snapshot of a newer codec version replaces the
 * stored snapshot, whatever its revision is. Each row has a MAC, because commands are decided on
 * the state in the row. Without a MAC, a person with write access to the database could raise a
 * balance without an event. A row with a wrong MAC is reported and deleted. The stream is then read
 * from its beginning.
 */
export async function createPostgresSnapshots({ pg, vault, log }: Deps): Promise<Snapshots> {
  await ensureSchema(pg, 'snapshots', DDL)
  const macOf = macWith(vault)
  return {
    load: async (stream) => {
      const { rows } = await pg.query<Row>({
        name: 'snapshot-load',
        text: `
          select version, revision, position, state, mac from snapshots.states where stream = $1`,
        values: [stream],
      })
      const row = rows[0]
      if (row === undefined) return null
      const { version, state, mac } = row
      const [revision, position] = [Number(row.revision), Number(row.position)]
      if (mac !== macOf(stream, { version, revision, position, state })) {
        log.error({ stream, revision }, 'a snapshot was changed in the database')
        const removal = 'delete from snapshots.states where stream = $1 and state = $2'
        await pg.query(removal, [stream, state])
        return null
      }
      return { version, revision, position, state: JSON.parse(state) }
    },
    save: async (stream, { version, revision, position, state: value }) => {
      const state = JSON.stringify(value)
      await pg.query({
        name: 'snapshot-save',
        text: `
          insert into snapshots.states as kept (stream, version, revision, position, state, mac)
          values ($1, $2, $3, $4, $5, $6)
          on conflict (stream) do update set version = excluded.version,
            revision = excluded.revision, position = excluded.position, state = excluded.state,
            mac = excluded.mac
          where (kept.version, kept.revision) < (excluded.version, excluded.revision)`,
        values: [
          ...[stream, version, revision, position, state],
          macOf(stream, { version, revision, position, state }),
        ],
      })
    },
  }
}
