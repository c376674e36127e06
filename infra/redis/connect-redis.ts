import { Redis } from 'ioredis'
import type { Logger } from 'pino'

const CONNECT_MS = 1_000
const SILENCE_MS = 1_000
const RETRY_MS_MAX = 500

/**
 * A client that never keeps a command for later: what can't be sent now, or was under way when the
 * connection broke, fails at once. It connects again for ever, also when the server is silent, or
 * has become a replica. Resolves after the first try, connected or not.
 */
export async function connectRedis(url: string, log: Logger): Promise<Redis> {
  let isLeaving = false
  const redis = new Redis(url, {
    connectionName: 'tallygate',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times) => Math.min(RETRY_MS_MAX, 20 * 2 ** times),
    reconnectOnError: ({ message }) => {
      if (isLeaving || !message.startsWith('READONLY')) return false
      isLeaving = true
      return true
    },
  })
  // Each failed connection is an event; that Redis is lost is told once, by whoever asks it.
  redis.on('error', (err) => log.debug({ err }, 'Redis: no connection'))
  redis.on('close', () => {
    isLeaving = false
  })
  await redis.connect().catch(() => {})
  return redis
}
