import { Cluster, Redis } from 'ioredis'
import type { Logger } from 'pino'
import { reasonOf } from '../telemetry/log.ts'

export type RedisClient = Redis | Cluster

const CONNECT_MS = 1_000
const SILENCE_MS = 1_000
const RETRY_MS_MAX = 500

/**
 * Creates a Redis client and connects it. The client never queues commands, so that a command fails
 * immediately if there is no connection. The client tries to reconnect without a limit. Resolves
 * after the first attempt to connect, even if this attempt failed. `redis://node:6379?cluster=true`
 * names one node of a cluster, from which the client learns the other nodes.
 */
export async function connectRedis(text: string, log: Logger): Promise<RedisClient> {
  const url = new URL(text)
  const isCluster = url.searchParams.get('cluster') === 'true'
  url.searchParams.delete('cluster')
  const redis = isCluster ? clusterAt(url) : serverAt(url)
  // The client emits an error for each failed attempt. Only a new reason is logged.
  let reported = ''
  redis.on('error', (err: Error) => {
    const reason = reasonOf(err)
    if (reason === reported) return
    reported = reason
    log.warn({ reason, redis: url.host }, 'REDIS_URL: Redis cannot be reached')
  })
  redis.on('ready', () => {
    reported = ''
  })
  await redis.connect().catch(() => {})
  return redis
}

const retryMs = (times: number): number => Math.min(RETRY_MS_MAX, 20 * 2 ** times)

const CONNECTION = {
  connectionName: 'tallygate',
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_MS,
  socketTimeout: SILENCE_MS,
}

function serverAt(url: URL): Redis {
  let isLeaving = false
  const redis = new Redis(url.href, {
    ...CONNECTION,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryMs,
    reconnectOnError: ({ message }) => {
      if (isLeaving || !message.startsWith('READONLY')) return false
      isLeaving = true
      return true
    },
  })
  redis.on('close', () => {
    isLeaving = false
  })
  return redis
}

function clusterAt({ hostname, port, username, password, protocol }: URL): Cluster {
  return new Cluster([{ host: hostname, port: Number(port || 6379) }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryMs,
    redisOptions: {
      ...CONNECTION,
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
  })
}
