/** Whose tasks: one's own, or everybody's (admins). */
type TaskScope = 'self' | 'all'

/** `page` counts from 0. An empty id and channel 0 ask for all. Times in unix seconds. */
export type TaskAsk = {
  scope: TaskScope
  id: string
  channel: number
  from: number | null
  to: number | null
  page: number
  pageSize: number
  afterPosition: number
  signal: AbortSignal
}

/** `is_total_capped`: there are more than `total`, which are not counted. */
export type TaskPage<Task> = {
  items: Task[]
  page: number
  total: number
  is_total_capped: boolean
}

/** The filters as the server names them; what is empty is not sent. */
export const taskParams = (ask: TaskAsk) => ({
  p: ask.page,
  page_size: ask.pageSize,
  channel_id: ask.channel === 0 ? undefined : ask.channel,
  start_timestamp: ask.from ?? undefined,
  end_timestamp: ask.to ?? undefined,
})
