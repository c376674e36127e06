import type { Pool } from 'pg'
import type { BatchApi } from '#domain/batches/events.ts'
import type { CallBounds } from '#domain/pricing/hold-amount.ts'
import type { DecimalText } from '#domain/pricing/price-snapshot.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { addColumn, createIndex, ensureSchema } from '#infra/postgres/ensure-schema.ts'
import type { ToolLimits } from '../dialects/provider-tool-limits.ts'

/** The file that the gateway uploads to a provider in order to submit a batch. */
export type UploadedFile = {
  readonly channelId: number
  readonly keyRef: string
  /**
   * The provider's id of the file. It is null while the upload runs. It stays null if the process
   * ended during the upload. The provider may then have the file, which is found by its name.
   */
  readonly upstreamId: string | null
}

/**
 * The stored row of a batch: its owner, and the data that are needed to describe the batch to its
 * owner and to settle the batch. `batch` is the id of the batch's event stream.
 */
export type StoredBatch = {
  readonly batch: string
  readonly userId: number
  readonly api: BatchApi
  /** The time at which the caller submitted the batch, in Unix milliseconds. */
  readonly submittedAt: number
  readonly isSettled: boolean
  /** The number of attempts to settle the batch since its provider last reported it as running. */
  readonly attempts: number
  /**
   * The time of the next attempt to settle the batch, in Unix milliseconds; 0 if the attempt may be
   * made at once.
   */
  readonly retryAt: number
  /**
   * The time of the provider's first denial, in Unix milliseconds; 0 if there is none. A denial is
   * an answer that refuses access to the batch or its results, or that says that the provider does
   * not know the batch.
   */
  readonly deniedAt: number
  /**
   * The time of the first failed attempt to settle the batch since the last denial, in Unix
   * milliseconds; 0 if there was no such failure. A denial does not count as such a failure.
   */
  readonly failingSince: number
  /**
   * The time at which the provider first reported that the batch has ended, in Unix milliseconds; 0
   * if it has not.
   */
  readonly endSeenAt: number
  /**
   * The members of the caller's submission that descriptions of the batch repeat, as encrypted JSON
   * text. Null if there are none.
   */
  readonly request: Sealed | null
  /**
   * The provider's last description of the batch, as encrypted JSON text. Null until the provider
   * has accepted the batch.
   */
  readonly object: Sealed | null
  /** Null if no file was uploaded for the batch. */
  readonly uploaded: UploadedFile | null
  /**
   * Identifies the request that has stored the batch but has not reserved its quota yet. Null once
   * the quota is reserved.
   */
  readonly holder: string | null
  /** The time at which the request in `holder` stored the batch, in Unix milliseconds. */
  readonly holderSince: number
}

/**
 * The time in milliseconds that a request has to reserve the quota of the batch that it stored.
 * After this time, the request counts as dead, and a repeat with the same `Idempotency-Key` may
 * take the batch over. A reservation usually takes less time. If it takes longer and a repeat has
 * taken the batch over, `confirm` returns false, and the first request does not send the batch.
 */
export const HOLDING_MS = 60_000

/** Reports whether another request may take over a stored batch at the time `at`. */
export const isAbandoned = (
  { holder, holderSince }: Pick<StoredBatch, 'holder' | 'holderSince'>,
  at: number,
): boolean => holder !== null && at - holderSince >= HOLDING_MS

/**
 * The data of a line that is stored when the batch is submitted. The charge for the line is later
 * computed from these data and does not exceed the limits in them.
 */
export type LineFacts = {
  readonly line: number
  readonly part: number
  /**
   * The name of the model that was sent to the provider. Lines that were stored by earlier versions
   * lack this name.
   */
  readonly sentModel?: string
  readonly bounds: Pick<CallBounds, 'inputTokens' | 'outputTokens' | 'choices' | 'tools'>
  readonly inputCeiling: number
  /**
   * The number of answers that the line requests. A price per call is charged once for each answer.
   */
  readonly calls: number
  readonly bytes: number
  readonly hasHourCache: boolean
  readonly toolLimits?: Omit<ToolLimits, 'edits'>
  /** The factor of the price per image. Omitted if the line requests no images. */
  readonly imageFactor?: DecimalText
  /** The name of the line's wire format. Omitted if the batch's API has only one format. */
  readonly format?: string
}

/** The lines of a batch. The key is the hash of the line's `custom_id` (see `lineId`). */
export type LinesById = ReadonlyMap<string, LineFacts>

export type PageOfBatches = {
  readonly limit: number
  /**
   * The page ends before the batch with the id `before`, or begins after the batch with the id
   * `after`. Later batches come first.
   */
  readonly before?: string
  readonly after?: string
}

export type NewBatch = Omit<
  StoredBatch,
  | 'isSettled'
  | 'object'
  | 'attempts'
  | 'retryAt'
  | 'deniedAt'
  | 'failingSince'
  | 'endSeenAt'
  | 'uploaded'
  | 'holder'
> & { readonly holder: string }

/** Stores the owner of each batch, and the data of its lines for as long as results can be read. */
export type BatchStore = {
  /**
   * Stores a batch whose quota is not reserved yet. Replaces an abandoned batch (see `isAbandoned`)
   * with the same id. If any other batch with this id is stored, stores nothing and returns false.
   */
  add(batch: NewBatch, lines: LinesById): Promise<boolean>
  /**
   * Records that the holder has reserved the quota. Returns false if the batch is no longer stored
   * for this holder. In this case, the batch must not be sent.
   */
  confirm(batch: string, holder: string): Promise<boolean>
  describe(batch: string, object: Sealed): Promise<void>
  /** Stores which file was uploaded for the batch, so that it can be deleted later. */
  noteUpload(batch: string, file: UploadedFile): Promise<void>
  settle(batch: string): Promise<void>
  /**
   * Counts an attempt to settle a batch, and stores the time of the next attempt in Unix
   * milliseconds. Changes nothing and returns false if the stored number of attempts differs from
   * `attempts`, because another process has begun an attempt.
   */
  postpone(batch: string, attempts: number, retryAt: number): Promise<boolean>
  /**
   * Stores in `deniedAt` the time at which the provider began to deny access, unless `deniedAt` is
   * already set. Resets `failingSince` to 0.
   */
  deny(batch: string, at: number): Promise<void>
  /**
   * Stores in `failingSince` the time of a failure that is not a denial, unless `failingSince` is
   * already set.
   */
  noteFailure(batch: string, at: number): Promise<void>
  /**
   * Stores in `endSeenAt` the time at which the end of the batch was first seen, unless `endSeenAt`
   * is already set.
   */
  noteEnd(batch: string, at: number): Promise<void>
  /** Resets `deniedAt` and `failingSince` to 0, because earlier denials no longer count. */
  clearDenied(batch: string): Promise<void>
  /**
   * Resets `attempts`, `retryAt`, `deniedAt` and `failingSince` to 0, because the provider has
   * reported the batch as running.
   */
  resume(batch: string): Promise<void>
  /** Returns the batch with this id, or undefined if the user has no such batch. */
  find(userId: number, batch: string): Promise<StoredBatch | undefined>
  list(userId: number, api: BatchApi, page: PageOfBatches): Promise<readonly StoredBatch[]>
  /**
   * Returns at most `limit` batches that are not settled, in the order of their ids, from the first
   * id greater than `after`.
   */
  unsettled(after: string, limit: number): Promise<readonly StoredBatch[]>
  linesOf(batch: string): Promise<LinesById>
  /**
   * Replaces the data of all lines of a batch, because the batch is sent to another channel. The
   * ids of the lines stay the same.
   */
  replaceLines(batch: string, lines: LinesById): Promise<void>
  /**
   * Removes the batch if it is stored for this holder. `holder` is null for a batch whose quota was
   * reserved. A batch that another request has taken over is kept.
   */
  remove(batch: string, holder: string | null): Promise<void>
  /**
   * Deletes the settled batches that were submitted `RETENTION_MS` before the time `at` or earlier.
   */
  sweep(at: number): Promise<void>
}

/**
 * Awaits a query of the database. Rejects with `StoreUnavailable` if the query fails, so that the
 * failure is not mistaken for a failure of the provider.
 */
export const fromStore = <T>(query: Promise<T>): Promise<T> =>
  query.catch((cause: unknown) => {
    throw new StoreUnavailable('a batch could not be read or written', { cause })
  })

/**
 * How long a settled batch is kept after its submission, in milliseconds. Anthropic keeps results
 * for 29 days.
 */
const RETENTION_MS = 30 * 86_400_000

const TABLE = `
  create table if not exists relay.batches (
    batch text primary key,
    user_id int8 not null,
    submitted_at int8 not null,
    is_settled boolean not null default false,
    object text
  );
  ${addColumn('relay.batches', 'api', "text not null default 'anthropic'")}
  ${addColumn('relay.batches', 'request', 'text')}
  ${addColumn('relay.batches', 'attempts', 'int4 not null default 0')}
  ${addColumn('relay.batches', 'retry_at', 'int8 not null default 0')}
  ${addColumn('relay.batches', 'denied_at', 'int8 not null default 0')}
  ${addColumn('relay.batches', 'failing_since', 'int8 not null default 0')}
  ${addColumn('relay.batches', 'end_seen_at', 'int8 not null default 0')}
  ${addColumn('relay.batches', 'uploaded', 'jsonb')}
  ${addColumn('relay.batches', 'holder', 'text')}
  ${addColumn('relay.batches', 'holder_since', 'int8 not null default 0')}
  ${createIndex('batches_of_user', 'relay.batches', '(user_id, batch)')}
  ${createIndex('unsettled_batches', 'relay.batches', '(batch) where not is_settled')}
  create table if not exists relay.batch_lines (
    batch text not null,
    id_hash text not null,
    facts text not null,
    primary key (batch, id_hash)
  );
`
const ROW = `batch, user_id::int4 as "userId", api, submitted_at::float8 as "submittedAt",
  is_settled as "isSettled", attempts, retry_at::float8 as "retryAt",
  denied_at::float8 as "deniedAt", failing_since::float8 as "failingSince",
  end_seen_at::float8 as "endSeenAt", request, object, uploaded, holder,
  holder_since::float8 as "holderSince"`

// A batch that replaces another one has the same lines, because the `Idempotency-Key` of both
// batches belongs to the same body. The facts of the lines may differ, because prices may have
// changed.
const ADDITION = `with added as (
    insert into relay.batches as known
      (batch, user_id, submitted_at, api, request, holder, holder_since)
    values ($1, $2, $3, $6, $7, $8, $9)
    on conflict (batch) do update set submitted_at = excluded.submitted_at,
      request = excluded.request, holder = excluded.holder, holder_since = excluded.holder_since
      where known.holder is not null and known.holder_since <= $10
    returning batch
  ), lines as (
    insert into relay.batch_lines (batch, id_hash, facts)
    select added.batch, one.* from added, unnest($4::text[], $5::text[]) as one
    on conflict (batch, id_hash) do update set facts = excluded.facts
  )
  select from added`
const REPLACEMENT = `update relay.batch_lines as known set facts = one.facts
  from unnest($2::text[], $3::text[]) as one (id_hash, facts)
  where known.batch = $1 and known.id_hash = one.id_hash`
const REMOVAL = `with removed as (
    delete from relay.batches where batch = $1 and holder is not distinct from $2 returning batch
  )
  delete from relay.batch_lines where batch in (select batch from removed)`
const SWEEP = `with old as (
    delete from relay.batches where is_settled and submitted_at <= $1 returning batch
  )
  delete from relay.batch_lines where batch in (select batch from old)`

type Attempts = 'postpone' | 'deny' | 'noteFailure' | 'noteEnd' | 'clearDenied' | 'resume'

function attemptsIn(pg: Pool): Pick<BatchStore, Attempts> {
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
      const text = `update relay.batches set failing_since = 0,
        denied_at = case when denied_at = 0 then $2 else denied_at end where batch = $1`
      await pg.query(text, [batch, at])
    },
    noteFailure: async (batch, at) => {
      const text = `update relay.batches set failing_since = $2
        where batch = $1 and failing_since = 0`
      await pg.query(text, [batch, at])
    },
    noteEnd: async (batch, at) => {
      const text = 'update relay.batches set end_seen_at = $2 where batch = $1 and end_seen_at = 0'
      await pg.query(text, [batch, at])
    },
    clearDenied: async (batch) => {
      const text = 'update relay.batches set denied_at = 0, failing_since = 0 where batch = $1'
      await pg.query(text, [batch])
    },
    resume: async (batch) => {
      const text = `update relay.batches
        set attempts = 0, retry_at = 0, denied_at = 0, failing_since = 0 where batch = $1`
      await pg.query(text, [batch])
    },
  }
}

/** Creates the store. Its tables are in the database schema `relay`, which all relays share. */
export async function createBatchStore(pg: Pool): Promise<BatchStore> {
  await ensureSchema(pg, 'relay', TABLE)
  const rows = async (text: string, values: readonly unknown[]) =>
    (await pg.query<StoredBatch>(`select ${ROW} from relay.batches ${text}`, [...values])).rows
  return {
    add: async ({ batch, userId, api, submittedAt, request, holder, holderSince }, lines) => {
      const { rowCount } = await pg.query(ADDITION, [
        ...[batch, userId, submittedAt],
        ...[[...lines.keys()], [...lines.values()].map((facts) => JSON.stringify(facts))],
        ...[api, request, holder, holderSince, holderSince - HOLDING_MS],
      ])
      return rowCount === 1
    },
    confirm: async (batch, holder) => {
      const text = 'update relay.batches set holder = null where batch = $1 and holder = $2'
      return (await pg.query(text, [batch, holder])).rowCount === 1
    },
    describe: async (batch, object) => {
      await pg.query('update relay.batches set object = $2 where batch = $1', [batch, object])
    },
    noteUpload: async (batch, file) => {
      const text = 'update relay.batches set uploaded = $2 where batch = $1'
      await pg.query(text, [batch, JSON.stringify(file)])
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
    replaceLines: async (batch, lines) => {
      const facts = [...lines.values()].map((one) => JSON.stringify(one))
      await pg.query(REPLACEMENT, [batch, [...lines.keys()], facts])
    },
    remove: async (batch, holder) => {
      await pg.query(REMOVAL, [batch, holder])
    },
    sweep: async (at) => {
      await pg.query(SWEEP, [at - RETENTION_MS])
    },
  }
}
