import type { Pool } from 'pg'
import type { BatchApi } from '#domain/batches/events.ts'
import type { CallBounds } from '#domain/pricing/hold-amount.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import type { ToolLimits } from '../dialects/provider-tool-limits.ts'

/** A batch with the data that its user may read. `batch` is the id of the batch's event stream. */
export type StoredBatch = {
  readonly batch: string
  readonly userId: number
  readonly api: BatchApi
  /** The time of the submission in unix milliseconds. */
  readonly submittedAt: number
  readonly isSettled: boolean
  /** The number of attempts to settle the batch since its provider last reported it as running. */
  readonly attempts: number
  /** The time of the next attempt to settle the batch, in unix milliseconds; 0 for at once. */
  readonly retryAt: number
  /** The time in unix milliseconds at which its provider first denied the results, or 0. */
  readonly deniedAt: number
  /**
   * The members of the caller's submission that descriptions repeat, as JSON text. Null if there
   * are none.
   */
  readonly request: Sealed | null
  /**
   * The provider's last description of the batch, as JSON text. Null until the provider has
   * accepted the batch.
   */
  readonly object: Sealed | null
}

/**
 * The data of a line that is stored before its answer arrives. The bill of the line stays within
 * these limits.
 */
export type LineFacts = {
  readonly line: number
  readonly part: number
  /** The model as sent. Lines of earlier versions lack it. */
  readonly sentModel?: string
  readonly bounds: Pick<CallBounds, 'inputTokens' | 'outputTokens' | 'choices' | 'tools'>
  readonly inputCeiling: number
  /** The number of requested answers. A price per call is charged once for each of them. */
  readonly calls: number
  readonly bytes: number
  readonly hasHourCache: boolean
  readonly toolLimits?: Omit<ToolLimits, 'edits'>
  /** The name of the line's format. Omitted for a batch whose lines have the same format. */
  readonly format?: string
}

/** The lines of a batch by the hash of their `custom_id`. */
export type LinesById = ReadonlyMap<string, LineFacts>

export type PageOfBatches = {
  readonly limit: number
  /** The id of the batch at which the page begins or ends. Later batches come first. */
  readonly before?: string
  readonly after?: string
}

export type NewBatch = Omit<
  StoredBatch,
  'isSettled' | 'object' | 'attempts' | 'retryAt' | 'deniedAt'
>

/**
 * Stores the owner of each batch, and the facts of its lines for as long as results can be read.
 */
export type BatchStore = {
  add(batch: NewBatch, lines: LinesById): Promise<void>
  describe(batch: string, object: Sealed): Promise<void>
  settle(batch: string): Promise<void>
  /**
   * Counts an attempt to settle a batch, and stores the time of the next attempt. Returns false if
   * the stored number of attempts differs from `attempts`, because another process has begun an
   * attempt.
   */
  postpone(batch: string, attempts: number, retryAt: number): Promise<boolean>
  /** Stores the first time at which the provider denied the results. */
  deny(batch: string, at: number): Promise<void>
  /** Resets the number of attempts, because the provider has reported the batch as running. */
  resume(batch: string): Promise<void>
  /** Returns the batch, or undefined if the user has none with this id. */
  find(userId: number, batch: string): Promise<StoredBatch | undefined>
  list(userId: number, api: BatchApi, page: PageOfBatches): Promise<readonly StoredBatch[]>
  /** Returns batches that are not settled, by id. */
  unsettled(after: string, limit: number): Promise<readonly StoredBatch[]>
  linesOf(batch: string): Promise<LinesById>
  remove(batch: string): Promise<void>
  /** Deletes settled batches that the provider no longer has at the time `at`. */
  sweep(at: number): Promise<void>
}

/** Anthropic keeps results for 29 days. */
const RETENTION_MS = 30 * 86_400_000

const TABLE = `
  create table if not exists relay.batches (
    batch text primary key,
    user_id int8 not null,
    submitted_at int8 not null,
    is_settled boolean not null default false,
    object text
  );
  alter table relay.batches add column if not exists api text not null default 'anthropic';
  alter table relay.batches add column if not exists request text;
  alter table relay.batches add column if not exists attempts int4 not null default 0;
  alter table relay.batches add column if not exists retry_at int8 not null default 0;
  alter table relay.batches add column if not exists denied_at int8 not null default 0;
  create index if not exists batches_of_user on relay.batches (user_id, batch);
  create index if not exists unsettled_batches on relay.batches (batch) where not is_settled;
  create table if not exists relay.batch_lines (
    batch text not null,
    id_hash text not null,
    facts text not null,
    primary key (batch, id_hash)
  );
`
const ROW = `batch, user_id::int4 as "userId", api, submitted_at::float8 as "submittedAt",
  is_settled as "isSettled", attempts, retry_at::float8 as "retryAt",
  denied_at::float8 as "deniedAt", request, object`

const REMOVAL = `with lines as (delete from relay.batch_lines where batch = $1)
  delete from relay.batches where batch = $1`
const SWEEP = `with old as (
    delete from relay.batches where is_settled and submitted_at <= $1 returning batch
  )
  delete from relay.batch_lines where batch in (select batch from old)`

function attemptsIn(pg: Pool): Pick<BatchStore, 'postpone' | 'deny' | 'resume'> {
  return {
    postpone: async (batch, attempts, retryAt) => {
      const { rowCount } = await pg.query(
        `update relay.batches set attempts = attempts + 1, retry_at = $3
         where batch = $1 and attempts = $2`,
        [batch, attempts, retryAt],
      )
      return rowCount === 1
    },
    deny: async (batch, at) => {
      const text = 'update relay.batches set denied_at = $2 where batch = $1 and denied_at = 0'
      await pg.query(text, [batch, at])
    },
    resume: async (batch) => {
      const text = `update relay.batches set attempts = 0, retry_at = 0, denied_at = 0
        where batch = $1`
      await pg.query(text, [batch])
    },
  }
}

/** Creates the store in the schema `relay`, which all relays share. */
export async function createBatchStore(pg: Pool): Promise<BatchStore> {
  await ensureSchema(pg, 'relay', TABLE)
  const rows = async (text: string, values: readonly unknown[]) =>
    (await pg.query<StoredBatch>(`select ${ROW} from relay.batches ${text}`, [...values])).rows
  return {
    add: async ({ batch, userId, api, submittedAt, request }, lines) => {
      await pg.query(
        `with added as (
           insert into relay.batches (batch, user_id, submitted_at, api, request)
           values ($1, $2, $3, $6, $7)
         )
         insert into relay.batch_lines (batch, id_hash, facts)
         select $1, * from unnest($4::text[], $5::text[])`,
        [
          ...[batch, userId, submittedAt],
          ...[[...lines.keys()], [...lines.values()].map((facts) => JSON.stringify(facts))],
          ...[api, request],
        ],
      )
    },
    describe: async (batch, object) => {
      await pg.query('update relay.batches set object = $2 where batch = $1', [batch, object])
    },
    settle: async (batch) => {
      await pg.query('update relay.batches set is_settled = true where batch = $1', [batch])
    },
    ...attemptsIn(pg),
    find: async (userId, batch) =>
      (await rows('where user_id = $1 and batch = $2', [userId, batch]))[0],
    list: async (userId, api, { limit, before, after }) => {
      const isReversed = before !== undefined
      const found = await rows(
        `where user_id = $1 and batch < coalesce($2, '~') and batch > coalesce($3, '')
           and api = $5
         order by batch ${isReversed ? 'asc' : 'desc'} limit $4`,
        [userId, after ?? null, before ?? null, limit, api],
      )
      return isReversed ? found.toReversed() : found
    },
    unsettled: (after, limit) =>
      rows('where not is_settled and batch > $1 order by batch limit $2', [after, limit]),
    linesOf: async (batch) => {
      const text = 'select id_hash as id, facts from relay.batch_lines where batch = $1'
      const found = await pg.query<{ id: string; facts: string }>(text, [batch])
      return new Map(found.rows.map(({ id, facts }) => [id, JSON.parse(facts) as LineFacts]))
    },
    remove: async (batch) => {
      await pg.query(REMOVAL, [batch])
    },
    sweep: async (at) => {
      await pg.query(SWEEP, [at - RETENTION_MS])
    },
  }
}
