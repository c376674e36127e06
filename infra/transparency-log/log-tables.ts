import { addColumn } from '../postgres/ensure-schema.ts'

/**
 * The tables of the transparency log, a Merkle tree whose leaves are hashes of events. `tiles`
 * contains the hashes of each level in tiles of 256 hashes. Only the last tile of a level can have
 * fewer hashes.
 */
export const LOG_SCHEMA = `
  create table if not exists transparency_log.log (
    is_only boolean primary key default true check (is_only),
    origin text not null,
    verifier_key text not null,
    size int8 not null default 0,
    last_position int8 not null default 0
  );
  create table if not exists transparency_log.tiles (
    level int2 not null,
    index int8 not null,
    hashes bytea not null,
    -- In level 0, the position of the first event in the tile.
    first_position int8 not null default 0,
    primary key (level, index)
  );
  create index if not exists tiles_by_position
    on transparency_log.tiles (first_position) where level = 0;
  create table if not exists transparency_log.checkpoints (
    size int8 primary key,
    last_position int8 not null,
    root bytea not null,
    body text not null,
    signatures text[] not null,
    -- Unix seconds.
    created_at int8 not null
  );
  create index if not exists checkpoints_by_position
    on transparency_log.checkpoints (last_position);
  -- The notes in which the key was replaced, in order. Both keys have signed each note.
  create table if not exists transparency_log.key_rotations (
    number int4 generated always as identity primary key,
    old_key text not null unique,
    new_key text not null unique,
    note text not null,
    -- Unix seconds.
    created_at int8 not null
  );
  -- For the file and the webhook, the tree size of the last checkpoint that was sent.
  create table if not exists transparency_log.publications (
    destination text primary key,
    size int8 not null
  );
  create table if not exists transparency_log.witnessed (
    origin text primary key,
    size int8 not null,
    root bytea not null
  );
  -- The key that replaced the configured one, or null, and the keys that are not accepted any more.
  ${addColumn('transparency_log.witnessed', 'current_key', 'text')}
  ${addColumn('transparency_log.witnessed', 'retired_keys', "text[] not null default '{}'")}
  -- The last tree that a witness refused and that continues the tree of a recorded refusal.
  create table if not exists transparency_log.refused_trees (
    refusal_id text primary key,
    size int8 not null,
    root text not null,
    mac text not null
  );
`

/**
 * Returns SQL for a field of a record: its length in bytes and its UTF-8 text. The SQL is an
 * expression and not a function. Postgres would call a function for each field, which takes four
 * times as long as the hash. `octet_length` counts bytes in UTF-8, which the database must use (see
 * `infra/postgres/server-checks.ts`).
 */
const field = (text: string): string =>
  `int4send(octet_length(${text})) || convert_to(${text}, 'UTF8')`

/**
 * An SQL expression for the leaf hash of an event, which must have the alias `e`. The result equals
 * that of `leafHash` in `infra/audit-program`, so that an event can be sealed without being sent to
 * this process.
 */
export const LEAF_HASH = `sha256('\\x0001'::bytea
  || ${field('e.position::text')} || ${field('e.stream')}
  || ${field('e.revision::text')} || ${field('e.id::text')}
  || ${field('e.type')} || ${field('e.v::text')}
  || ${field('e.at::text')} || ${field('e.actor')}
  || coalesce(${field('e.cause')}, '\\xffffffff'::bytea)
  || ${field('e.data')})`
