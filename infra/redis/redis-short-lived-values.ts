import {
  createSealedValues,
  type ShortLived,
  ShortLivedUnavailable,
} from '../limits/short-lived-values.ts'
import type { RedisClient } from './connect-redis.ts'

const PUT = `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'value', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
`

const TAKE = `
local value = redis.call('HGET', KEYS[1], 'value')
redis.call('DEL', KEYS[1])
return value
`

const COUNT_TRY = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local left = ARGV[1] - redis.call('HINCRBY', KEYS[1], 'tries', 1)
if left >= 0 then return left end
redis.call('DEL', KEYS[1])
return false
`

type Scripts = {
  readonly shortLivedPut: (name: string, value: Buffer, ttlMs: number) => Promise<null>
  readonly shortLivedTakeBuffer: (name: string) => Promise<Buffer | null>
  readonly shortLivedCountTry: (name: string, max: number) => Promise<number | null>
}

/**
 * Creates a store in Redis. A dump of Redis reveals nothing, because keys are hashed and values are
 * encrypted with keys derived from `SECRET_KEY`. There is no fallback while Redis is unavailable,
 * because a code that each process stored separately could be used more than once.
 */
export function createRedisShortLived(redis: RedisClient, secretKey: Uint8Array): ShortLived {
  const { nameOf, seal, open } = createSealedValues(secretKey)
  redis.defineCommand('shortLivedPut', { lua: PUT, numberOfKeys: 1 })
  redis.defineCommand('shortLivedTake', { lua: TAKE, numberOfKeys: 1 })
  redis.defineCommand('shortLivedCountTry', { lua: COUNT_TRY, numberOfKeys: 1 })
  const scripts = redis as unknown as Scripts
  return {
    put: async (kind, key, value, ttlMs) => {
      const name = nameOf(kind, key)
      await orUnavailable(scripts.shortLivedPut(name, seal(name, value), Math.ceil(ttlMs)))
    },
    take: async (kind, key) => {
      const name = nameOf(kind, key)
      return open(name, await orUnavailable(scripts.shortLivedTakeBuffer(name)))
    },
    peek: async (kind, key) => {
      const name = nameOf(kind, key)
      return open(name, await orUnavailable(redis.hgetBuffer(name, 'value')))
    },
    countTry: (kind, key, max) => orUnavailable(scripts.shortLivedCountTry(nameOf(kind, key), max)),
  }
}

const orUnavailable = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((cause: unknown) => {
    throw new ShortLivedUnavailable({ cause })
  })
