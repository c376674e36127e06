// Looked at before anything below writes over them.
import './stored-chats.ts'
import type { Status } from '#read-api/contract/status.ts'

const KEY = 'status'

/** Keeps the answer for the next visit's first paint, and the single keys other screens read. */
export function cacheStatus(status: Status): void {
  localStorage.setItem(KEY, JSON.stringify(status))
  localStorage.setItem('footer_html', status.footer_html)
  localStorage.setItem('enable_data_export', String(status.enable_data_export))
  localStorage.setItem('enable_drawing', String(status.enable_drawing))
  localStorage.setItem('enable_task', String(status.enable_task))
  localStorage.setItem('chats', JSON.stringify(status.chats))
}

export function cachedStatus(): Status | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    return typeof value === 'object' && value !== null ? (value as Status) : undefined
  } catch {
    return undefined
  }
}
