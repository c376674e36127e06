import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { createIndex, ensureSchema } from '#infra/postgres/ensure-schema.ts'
import {
  CONTENT_BOUNDS,
  type ContentBounds,
  ContentLimits,
} from './limit-bytes-of-stored-contents.ts'

/**
 * The content of a response that was converted. Its provider stores nothing to which a later
 * request could refer, so the gateway stores the content. Every text is compressed, and encrypted
 * with the data key of the user, so that it becomes unreadable when the user is erased.
 */
export type ResponseContent = {
  readonly tokenId: number
  readonly userId: number
  readonly responseId: string
  /** The response without its output items. */
  readonly response: Buffer
  /** The output items, as a JSON array. */
  readonly output: Buffer
  /**
   * The items of the complete input, as a JSON array. Null if the input was too long or was
   * deleted.
   */
  readonly input: Buffer | null
  /** The length of the output in bytes, before the compression. */
  readonly outputBytes: number
  /** The length of the input in bytes, before the compression. */
  readonly inputBytes: number
  /** The time at which the response was stored, in Unix milliseconds. */
  readonly at: number
}

/** The ids of the token that made a response and of the token's user. */
export type ContentOwner = Pick<ResponseContent, 'tokenId' | 'userId'>

/**
 * Returns the ids of a caller's token and of its user. Contents are found only for the token that
 * made the response.
 */
export const contentOwnerOf = ({
  token: { tokenId },
  user: { userId },
}: {
  readonly token: { readonly tokenId: number }
  readonly user: { readonly userId: number }
}): ContentOwner => ({ tokenId, userId })

/** The lengths in bytes of one stored content, before its compression. */
export type ContentSize = Pick<ResponseContent, 'responseId' | 'outputBytes'> & {
  /** The length of the input. Null if the input is not stored. */
  readonly inputBytes: number | null
}

/**
 * The loaded content of one response. `input` is loaded for at most one response of a request, and
 * is null for all others.
 */
export type LoadedContent = Pick<ResponseContent, 'responseId' | 'output' | 'input'>

/** A response as a caller fetches it. */
type LoadedResponse = Pick<ResponseContent, 'response' | 'output'>

/**
 * Stores the contents of converted responses. Content is found only for the token that made the
 * response.
 */
export type ResponseContents = {
  /**
   * Resolves when the content can be found. Rejects if it could not be written, or if the contents
   * of all users have reached their maximum.
   */
  add(content: ResponseContent): Promise<void>
  sizes(owner: ContentOwner, ids: readonly string[]): Promise<readonly ContentSize[]>
  /** Loads the outputs of these responses, and the input of the response `previous`. */
  load(
    owner: ContentOwner,
    ids: readonly string[],
    previous: string | null,
  ): Promise<readonly LoadedContent[]>
  /** Loads a response that a caller fetches. Returns null if the token has no such response. */
  loadResponse(owner: ContentOwner, responseId: string): Promise<LoadedResponse | null>
  /** Deletes the content of a response. Returns false if the token has no such response. */
  remove(tokenId: number, responseId: string): Promise<boolean>
  /** Returns all tokens that have contents, with their users. */
  owners(): Promise<readonly ContentOwner[]>
  removeOfTokens(tokenIds: readonly number[]): Promise<void>
  /** Deletes contents that are older than `CONTENT_RETENTION_MS` at the time `at`. */
  sweep(at: number): Promise<void>
}

/** The maximum time for which the contents of converted responses are stored. */
const CONTENT_RETENTION_MS = 7 * 86_400_000

/**
 * The number of bytes that a row counts in addition to its texts. Without this addition, many small
 * rows would count as almost nothing.
 */
const ROW_BYTES = 512

/**
 * Creates the table. A table whose contents have the type `text` is dropped first. Only versions
 * before the first release created such tables.
 */
const TABLE = `
  do $$ begin
    if exists (select from pg_attribute
      where attrelid = to_regclass('relay.response_contents') and attname = 'output'
        and atttypid = 'text'::regtype)
    then
      drop table relay.response_contents;
    end if;
  end $$;
  create table if not exists relay.response_contents (
    token_id int8 not null,
    response_id text not null,
    user_id int8 not null,
    response bytea not null,
    output bytea not null,
    input bytea,
    output_bytes int8 not null,
    input_bytes int8 not null,
    stored_bytes int8 not null,
    stored_at int8 not null,
    primary key (token_id, response_id)
  );
  ${createIndex('response_contents_of_user', 'relay.response_contents', '(user_id, stored_at)')}
  ${createIndex('response_contents_at', 'relay.response_contents', '(stored_at)')}
`

const INSERT = `
  insert into relay.response_contents (token_id, response_id, user_id, response, output, input,
    output_bytes, input_bytes, stored_bytes, stored_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (token_id, response_id) do nothing`

const SIZES = `
  select response_id as "responseId", output_bytes::int4 as "outputBytes",
    case when input is not null then input_bytes::int4 end as "inputBytes"
  from relay.response_contents where token_id = $1 and response_id = any($2)`

const LOAD = `
  select response_id as "responseId", output,
    case when response_id = $3 then input end as input
  from relay.response_contents where token_id = $1 and response_id = any($2)`

const LOAD_RESPONSE = `
  select response, output from relay.response_contents where token_id = $1 and response_id = $2`

/** Finds each token by one look-up in the index, because reading all rows would take seconds. */
const OWNERS = `
  with recursive owners as (
    (select token_id, user_id from relay.response_contents order by token_id limit 1)
    union all
    select next.* from owners cross join lateral (
      select token_id, user_id from relay.response_contents
      where token_id > owners.token_id order by token_id limit 1
    ) as next
  )
  select token_id::float8 as "tokenId", user_id::float8 as "userId" from owners`

const REMOVE = `
  delete from relay.response_contents where token_id = $1 and response_id = $2
  returning stored_bytes::float8 as bytes`

const REMOVE_OF_TOKENS = `
  delete from relay.response_contents where token_id = any($1::int8[])
  returning stored_bytes::float8 as bytes`

/** Creates the store in the schema `relay`, which all relays share. */
export async function createResponseContents(
  pg: Pool,
  log: Logger | null = null,
  bounds: Partial<ContentBounds> = {},
): Promise<ResponseContents> {
  await ensureSchema(pg, 'relay', TABLE)
  const limits = new ContentLimits(pg, { ...CONTENT_BOUNDS, ...bounds }, log)
  await limits.count()
  return {
    add: async ({ tokenId, responseId, userId, response, output, input, ...numbers }) => {
      const { outputBytes, inputBytes, at } = numbers
      const bytes = response.length + output.length + (input?.length ?? 0) + ROW_BYTES
      const texts = [response, output, input]
      const values = [tokenId, responseId, userId, ...texts, outputBytes, inputBytes, bytes, at]
      await limits.add(bytes, () => pg.query({ name: 'insert-content', text: INSERT, values }))
      await limits.deleteOldest(userId, bytes)
    },
    sizes: async ({ tokenId }, ids) => {
      const query = { name: 'sizes-of-contents', text: SIZES, values: [tokenId, ids] }
      return (await pg.query<ContentSize>(query)).rows
    },
    load: async ({ tokenId }, ids, previous) => {
      const query = { name: 'load-contents', text: LOAD, values: [tokenId, ids, previous] }
      return (await pg.query<LoadedContent>(query)).rows
    },
    loadResponse: async ({ tokenId }, id) => {
      const query = { name: 'load-response', text: LOAD_RESPONSE, values: [tokenId, id] }
      return (await pg.query<LoadedResponse>(query)).rows[0] ?? null
    },
    remove: async (tokenId, responseId) => (await limits.free(REMOVE, [tokenId, responseId])) > 0,
    owners: async () => (await pg.query<ContentOwner>(OWNERS)).rows,
    removeOfTokens: async (tokenIds) => {
      await limits.free(REMOVE_OF_TOKENS, [tokenIds])
    },
    sweep: async (at) => {
      const text = 'delete from relay.response_contents where stored_at <= $1'
      await pg.query(text, [at - CONTENT_RETENTION_MS])
      await limits.count()
    },
  }
}
