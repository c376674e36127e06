import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { warnThrottled } from '#infra/telemetry/log.ts'

/** The limits of the contents that are stored. */
export type ContentBounds = {
  /** The maximum total size in bytes of the compressed contents of one user. */
  readonly userBytesMax: number
  /**
   * The maximum total size in bytes of the compressed contents of all users. Without this maximum,
   * contents could fill the disk, and the database could then no longer record calls.
   */
  readonly siteBytesMax: number
  /**
   * The number of added bytes after which a process deletes a user's contents beyond the maximum.
   */
  readonly deletedEveryBytes: number
}

const MIB = 1024 * 1024
export const CONTENT_BOUNDS: ContentBounds = {
  ...{ userBytesMax: 32 * MIB, siteBytesMax: 4 * 1024 * MIB, deletedEveryBytes: 4 * MIB },
}

/** The maximum number of users whose bytes are counted. */
const COUNTED_USERS_MAX = 10_000

/**
 * Deletes the inputs of a user's older contents. Inputs are long, because each repeats the history
 * of its conversation. An input is needed only if a request refers to the response by
 * `previous_response_id`. References to items need only outputs.
 */
const DELETE_OLD_INPUTS = `
  update relay.response_contents as one
  set input = null, stored_bytes = one.stored_bytes - length(one.input)
  from (
    select token_id, response_id, length(input) as input_bytes,
      sum(stored_bytes) over (order by stored_at desc, response_id desc) as newer_bytes
    from relay.response_contents where user_id = $1
  ) as counted
  where one.token_id = counted.token_id and one.response_id = counted.response_id
    and one.input is not null and counted.newer_bytes > $2
  returning counted.input_bytes::float8 as bytes`

/** Deletes the oldest contents of a user, so that the newer contents stay within the maximum. */
const DELETE_OLDEST = `
  delete from relay.response_contents as one using (
    select token_id, response_id,
      sum(stored_bytes) over (order by stored_at desc, response_id desc) as newer_bytes
    from relay.response_contents where user_id = $1
  ) as counted
  where one.token_id = counted.token_id and one.response_id = counted.response_id
    and counted.newer_bytes > $2
  returning one.stored_bytes::float8 as bytes`

/** Limits how many bytes of contents are stored for each user, and for all users together. */
export class ContentLimits {
  private readonly pg: Pool
  private readonly bounds: ContentBounds
  private readonly log: Logger | null
  /**
   * The bytes of all contents at the last count, plus the bytes that this process has added since
   * then, minus the bytes that it has deleted.
   */
  private siteBytes = 0
  /** The bytes that this process has added for each user since the last deletion. */
  private readonly addedBytes = new Map<number, number>()
  /** The users whose contents are being deleted now. */
  private readonly limited = new Set<number>()

  constructor(pg: Pool, bounds: ContentBounds, log: Logger | null) {
    this.pg = pg
    this.bounds = bounds
    this.log = log
  }

  /** Counts the bytes of all contents, which other processes may have changed. */
  async count(): Promise<void> {
    const { rows } = await this.pg.query<{ readonly bytes: number }>(
      'select coalesce(sum(stored_bytes), 0)::float8 as bytes from relay.response_contents',
    )
    this.siteBytes = rows[0]?.bytes ?? 0
  }

  /** Runs `write`, which stores `bytes` bytes. Throws if the site would exceed its maximum. */
  async add(bytes: number, write: () => Promise<unknown>): Promise<void> {
    if (this.siteBytes + bytes > this.bounds.siteBytesMax)
      throw new Error('the site stores its maximum of contents')
    this.siteBytes += bytes
    try {
      await write()
    } catch (error) {
      this.siteBytes -= bytes
      throw error
    }
  }

  /**
   * Runs an SQL statement that deletes contents or their inputs and returns the freed bytes of each
   * row. Returns the number of these rows.
   */
  async free(text: string, values: readonly unknown[]): Promise<number> {
    const { rows } = await this.pg.query<{ readonly bytes: number }>(text, [...values])
    this.siteBytes -= rows.reduce((sum, { bytes }) => sum + bytes, 0)
    return rows.length
  }

  /**
   * Notes that a user has added bytes. After each `deletedEveryBytes`, deletes the user's oldest
   * contents, so that the newer contents stay within the maximum. Only one deletion runs per user,
   * because two deletions of the same rows could block each other. The promise never rejects: the
   * new content is already stored, and the caller must learn that the response is stored. After a
   * failed deletion, the next call of this method deletes again.
   */
  async deleteOldest(userId: number, bytes: number): Promise<void> {
    const { addedBytes, limited } = this
    const { userBytesMax, deletedEveryBytes } = this.bounds
    const added = (addedBytes.get(userId) ?? deletedEveryBytes) + bytes
    if (addedBytes.size > COUNTED_USERS_MAX) addedBytes.clear()
    addedBytes.set(userId, added)
    if (added < deletedEveryBytes || limited.has(userId)) return
    limited.add(userId)
    try {
      await this.free(DELETE_OLD_INPUTS, [userId, Math.floor(userBytesMax / 2)])
      await this.free(DELETE_OLDEST, [userId, userBytesMax])
      addedBytes.set(userId, (addedBytes.get(userId) ?? added) - added)
    } catch (err) {
      if (this.log !== null) warnThrottled(this.log, { err }, 'old contents could not be deleted')
    } finally {
      limited.delete(userId)
    }
  }
}
