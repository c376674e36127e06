import type { Pool } from 'pg'
import type { Sealed } from '#domain/shared/event.ts'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/** The redacted error message of a provider that failed a call. `at` is in Unix milliseconds. */
export type ProviderMessage = {
  readonly call: string
  readonly userId: number
  /**
   * The message, encrypted with the user's data key. If the key is destroyed, the message becomes
   * unreadable.
   */
  readonly message: Sealed
  /** True if the caller has received the message. False if only administrators can read it. */
  readonly isShown: boolean
  readonly at: number
}

export type FoundMessage = Pick<ProviderMessage, 'message' | 'isShown'>

/**
 * Stores error messages of providers for `RETENTION_MS`, because events never contain free text. A
 * call never waits for the storage and never fails because of it.
 */
export type ProviderMessages = {
  /** Queues a message. Drops the message if `WAITING_MAX` messages are already queued. */
  add(message: ProviderMessage): void
  find(calls: readonly string[]): Promise<ReadonlyMap<string, FoundMessage>>
  /** Deletes messages that are older than `RETENTION_MS` at `now`. */
  sweep(now: number): Promise<void>
  /** Resolves when every added message has been written or has failed. */
  flush(): Promise<void>
}

export const RETENTION_MS = 30 * 86_400_000
export const WAITING_MAX = 2_000
const BATCH_MAX = 200

const TABLE = `
  create table if not exists provider_messages.messages (
    call text primary key,
    user_id int8 not null,
    message text not null,
    is_shown bool not null,
    written_at int8 not null
  );
  create index if not exists messages_written_at on provider_messages.messages (written_at);
`

const INSERT = `
  insert into provider_messages.messages (call, user_id, message, is_shown, written_at)
  select * from unnest($1::text[], $2::int8[], $3::text[], $4::bool[], $5::int8[])
  on conflict (call) do nothing`

export async function createProviderMessages(
  pg: Pool,
  onError: (error: unknown) => void,
): Promise<ProviderMessages> {
  await ensureSchema(pg, 'provider_messages', TABLE)
  const waiting: ProviderMessage[] = []
  let writing: Promise<void> | null = null
  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      await insert(pg, waiting.splice(0, BATCH_MAX)).catch(onError)
    }
    writing = null
  }
  return {
    add: (message) => {
      if (waiting.length >= WAITING_MAX) return
      waiting.push(message)
      writing ??= write()
    },
    find: async (calls) => {
      if (calls.length === 0) return new Map()
      const { rows } = await pg.query<{ call: string } & FoundMessage>({
        name: 'find-provider-messages',
        text: `select call, message, is_shown as "isShown" from provider_messages.messages
               where call = any($1)`,
        values: [calls],
      })
      return new Map(rows.map(({ call, ...found }) => [call, found]))
    },
    sweep: async (now) => {
      await pg.query('delete from provider_messages.messages where written_at <= $1', [
        now - RETENTION_MS,
      ])
    },
    flush: async () => {
      await writing
    },
  }
}

const insert = (pg: Pool, messages: readonly ProviderMessage[]): Promise<unknown> =>
  pg.query({
    name: 'insert-provider-messages',
    text: INSERT,
    values: [
      messages.map(({ call }) => call),
      messages.map(({ userId }) => userId),
      messages.map(({ message }) => message),
      messages.map(({ isShown }) => isShown),
      messages.map(({ at }) => at),
    ],
  })
