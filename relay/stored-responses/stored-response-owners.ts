import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { ensureSchema } from '#infra/postgres/ensure-schema.ts'
import {
  type ContentOwner,
  createResponseContents,
  type ResponseContents,
} from './response-content-store.ts'

/**
 * Identifies the account that stores a response at the provider, by the channel and the key that
 * created the response.
 */
export type StorageAccount = { readonly channelId: number; readonly keyRef: string }

/** A response that a provider stores. Nothing of its content is stored here. */
export type StoredResponse = StorageAccount & {
  readonly tokenId: number
  readonly responseId: string
  /** The caller's name for the model. */
  readonly model: string
  /** The ids of the response's output items. */
  readonly itemIds: readonly string[]
  /**
   * The number of tokens of the response's input and output. A response that continues this one has
   * these tokens as input.
   */
  readonly tokens: number
  readonly outputTokens: number
  /** The time at which the response was recorded, in Unix milliseconds. */
  readonly at: number
}

/**
 * A stored response or one of its output items. `tokens` is the number of input tokens that a
 * reference to `id` adds.
 */
export type StoredId = StorageAccount & {
  readonly id: string
  readonly responseId: string
  readonly model: string
  readonly tokens: number
}

/**
 * Stores the token and the provider key that created each response at a provider. An id is found
 * only for the token that made the response, so that no caller can read another caller's content.
 */
export type StoredResponses = {
  /** Resolves when the response can be found. Rejects if it could not be written. */
  add(response: StoredResponse): Promise<void>
  find(owner: ContentOwner, ids: readonly string[]): Promise<readonly StoredId[]>
  remove(tokenId: number, responseId: string): Promise<void>
  /**
   * Deletes the ids of responses that were recorded `RETENTION_MS` before the time `at` or earlier,
   * and the contents that have expired.
   */
  sweep(at: number): Promise<void>
  /** The contents of responses that were converted, which no provider stores. */
  readonly contents: ResponseContents
}

/** The time for which the ids of a response are kept. OpenAI stores responses for 30 days. */
const RETENTION_MS = 30 * 86_400_000
const ITEMS_MAX = 256
const BATCH_MAX = 100
const WAITING_MAX = 5_000

const TABLE = `
  create table if not exists relay.stored_response_ids (
    token_id int8 not null,
    id text not null,
    response_id text not null,
    channel_id int8 not null,
    key_ref text not null,
    model text not null,
    tokens int8 not null,
    stored_at int8 not null,
    primary key (token_id, id)
  );
  create index if not exists stored_response_ids_at on relay.stored_response_ids (stored_at);
  create index if not exists stored_response_ids_of_response
    on relay.stored_response_ids (token_id, response_id);
`

const INSERT = `
  insert into relay.stored_response_ids
    (token_id, id, response_id, channel_id, key_ref, model, tokens, stored_at)
  select distinct on (token_id, id) * from unnest(
    $1::int8[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::int8[],
    $8::int8[]
  ) as one (token_id, id, response_id, channel_id, key_ref, model, tokens, stored_at)
  on conflict (token_id, id) do update set
    response_id = excluded.response_id, channel_id = excluded.channel_id,
    key_ref = excluded.key_ref, model = excluded.model, tokens = excluded.tokens,
    stored_at = excluded.stored_at`

const FIND = `
  select id, response_id as "responseId", channel_id::int4 as "channelId", key_ref as "keyRef",
    model, tokens::int4 as tokens
  from relay.stored_response_ids where token_id = $1 and id = any($2)`

type Row = Omit<StoredId, 'id'> & Pick<StoredResponse, 'tokenId' | 'at'> & { readonly id: string }

/**
 * Returns the rows to insert for a response and its first `ITEMS_MAX` output items, one for each
 * id.
 */
export function idsOf(response: StoredResponse): readonly Row[] {
  const { itemIds, outputTokens, tokens, ...place } = response
  const items = itemIds.slice(0, ITEMS_MAX).map((id) => ({ ...place, id, tokens: outputTokens }))
  return [{ ...place, id: response.responseId, tokens }, ...items]
}

/** Creates the store in the schema `relay`, which all relays share. */
export async function createStoredResponses(
  pg: Pool,
  log: Logger | null = null,
): Promise<StoredResponses> {
  await ensureSchema(pg, 'relay', TABLE)
  const contents = await createResponseContents(pg, log)
  let waiting: { readonly rows: readonly Row[]; readonly done: (error?: unknown) => void }[] = []
  let isWriting = false
  const write = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      const error = await insert(
        pg,
        batch.flatMap(({ rows }) => rows),
      ).catch((err) => err ?? true)
      for (const { done } of batch) done(error)
    }
    isWriting = false
  }
  return {
    add: (response) => {
      if (waiting.length >= WAITING_MAX) return Promise.reject(new Error('too many responses'))
      return new Promise((resolve, reject) => {
        const done = (error?: unknown) => (error === undefined ? resolve() : reject(error))
        waiting.push({ rows: idsOf(response), done })
        if (!isWriting) void write()
      })
    },
    find: async ({ tokenId }, ids) => {
      const query = { name: 'find-stored-responses', text: FIND, values: [tokenId, ids] }
      return (await pg.query<StoredId>(query)).rows
    },
    remove: async (tokenId, responseId) => {
      const text = 'delete from relay.stored_response_ids where token_id = $1 and response_id = $2'
      await pg.query(text, [tokenId, responseId])
    },
    sweep: async (at) => {
      const text = 'delete from relay.stored_response_ids where stored_at <= $1'
      await pg.query(text, [at - RETENTION_MS])
      await contents.sweep(at)
    },
    contents,
  }
}

async function insert(pg: Pool, rows: readonly Row[]): Promise<undefined> {
  const columns = [
    ...[rows.map(({ tokenId }) => tokenId), rows.map(({ id }) => id)],
    ...[rows.map(({ responseId }) => responseId), rows.map(({ channelId }) => channelId)],
    ...[rows.map(({ keyRef }) => keyRef), rows.map(({ model }) => model)],
    rows.map(({ tokens }) => tokens),
    rows.map(({ at }) => at),
  ]
  await pg.query({ name: 'insert-stored-responses', text: INSERT, values: columns })
  return undefined
}
