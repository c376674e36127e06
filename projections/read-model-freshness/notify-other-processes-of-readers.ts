import type { Pool } from 'pg'

const CHANNEL = 'read_models_awaited'
/** The minimum time between two notifications of one process, in milliseconds. */
const NOTIFY_MS = 1_000

/**
 * Returns a function that reports a waiting reader of this process to the processes that write read
 * models. The notified processes write more often for a few seconds.
 */
export function createReaderNotifier(pg: Pool): () => void {
  let notifiedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - notifiedAt < NOTIFY_MS) return
    notifiedAt = now
    // If the notification fails, the reader only waits a little longer.
    pg.query(`notify ${CHANNEL}`).catch(() => {})
  }
}

/**
 * Listens on each new connection of the pool, and calls `onReader` when a process reports a reader.
 */
export function listenForReaders(pg: Pool, onReader: () => void): void {
  pg.on('connect', (client) => {
    client.on('notification', ({ channel }) => {
      if (channel === CHANNEL) onReader()
    })
    client.query(`listen ${CHANNEL}`).catch(() => {})
  })
}
