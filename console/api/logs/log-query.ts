/** Whose rows: one's own, or everybody's (admins). */
export type LogScope = 'self' | 'all'

/** The filters as the server names them; what is empty or 0 is not sent. Times in unix seconds. */
export type LogParams = {
  type?: number | undefined
  token_name?: string
  model_name?: string
  group?: string
  request_id?: string
  channel?: number | undefined
  username?: string
  start_timestamp?: number | undefined
  end_timestamp?: number | undefined
}

/** The root of every query about calls: what the live stream makes stale. */
export const logsKey = ['logs'] as const
/** Of the log's bars over time. */
export const barsKey = [...logsKey, 'bars'] as const
