import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { CHANNEL } from './postgres-schema.ts'

export type CommitListener = { readonly close: () => Promise<void> }

/**
 * Hears of every process's commits; `onCommitted` gets the head position and the pid of
 * the server process that committed. A lost connection is
 * opened again; `onOpened` then has to look for what was missed meanwhile.
 */
export function listenForCommits(
  connectionString: string,
  onCommitted: (position: number, serverPid: number) => void,
  onOpened: () => Promise<void>,
): CommitListener {
  let client: Client | null = null
  let isClosed = false
  const closing = Promise.withResolvers<void>()
  const listen = async (): Promise<void> => {
    const ended = Promise.withResolvers<void>()
    const opened = new Client({
      connectionString,
      keepAlive: true,
      connectionTimeoutMillis: 3_000,
      application_name: 'tallygate-listen',
    })
    client = opened
    opened.on('notification', ({ payload, processId }) => onCommitted(Number(payload), processId))
    opened.on('error', () => {})
    opened.on('end', () => ended.resolve())
    try {
      await Promise.race([opened.connect(), closing.promise])
      if (isClosed) return
      await opened.query(`listen ${CHANNEL}`)
      await onOpened()
      await Promise.race([ended.promise, closing.promise])
    } catch {
      await opened.end().catch(() => {})
    }
  }
  const run = async (): Promise<void> => {
    while (!isClosed) {
      await listen()
      if (!isClosed) await delay(200)
    }
  }
  const running = run()
  return {
    close: async () => {
      isClosed = true
      closing.resolve()
      // Not by `end`: that waits for ever for a connection that is just being opened.
      client?.connection.stream.destroy()
      await running
    },
  }
}
