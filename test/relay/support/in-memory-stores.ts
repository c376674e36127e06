import {
  countsTowardsLimits,
  type FileLimits,
  type FileStore,
  limitExceeded,
  type StoredFile,
} from '#relay/batches/file-record-store.ts'
import {
  type CallClaim,
  CLAIM_MS,
  type ClaimedCalls,
} from '#relay/idempotency/idempotency-claims.ts'
import {
  type ClientSecret,
  type ClientSecrets,
  SECRETS_MAX,
} from '#relay/realtime/client-secret-store.ts'
import type {
  ResponseContent,
  ResponseContents,
} from '#relay/stored-responses/response-content-store.ts'
import {
  idsOf,
  type StoredId,
  type StoredResponses,
} from '#relay/stored-responses/stored-response-owners.ts'

export function filesInMemory(): FileStore {
  const files = new Map<string, StoredFile>()
  const sorted = () => [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))
  const exceeded = (userId: number, added: number, at: number, limits: FileLimits) => {
    const held = sorted().filter((one) => one.userId === userId && countsTowardsLimits(one, at))
    const bytes = held.reduce((sum, file) => sum + file.bytes, 0)
    return limitExceeded({ files: held.length, bytes }, added, limits)
  }
  return {
    add: async (file, limits) => {
      const limit = exceeded(file.userId, file.bytes, file.createdAt, limits)
      if (limit === null) files.set(file.file, file)
      return limit
    },
    complete: async ({ file, upstreamId, expiresAt }) => {
      const found = files.get(file)
      if (found !== undefined) files.set(file, { ...found, upstreamId, expiresAt })
      return found !== undefined
    },
    exceeded: async (userId, bytes, at, limits) => exceeded(userId, bytes, at, limits),
    find: async (userId, file, at) => {
      const found = files.get(file)
      const isShown = found?.userId === userId && found.expiresAt > at && found.upstreamId !== ''
      return isShown ? found : undefined
    },
    list: async (userId, { limit, isAscending, after, isInput, at }) => {
      const all = isAscending ? sorted() : sorted().toReversed()
      return all
        .filter((one) => one.userId === userId && one.expiresAt > at && one.upstreamId !== '')
        .filter(({ file }) => after === null || (isAscending ? file > after : file < after))
        .filter(({ batch }) => isInput === null || (batch === null) === isInput)
        .slice(0, limit)
    },
    remove: async (file) => {
      files.delete(file)
    },
    expire: async (file, expiresAt) => {
      const found = files.get(file)
      if (found !== undefined) files.set(file, { ...found, expiresAt })
    },
    owners: async () => [...new Set(sorted().map(({ userId }) => userId))],
    expireOfUsers: async (userIds, at, after) => {
      for (const one of sorted()) {
        const isMeant = userIds.includes(one.userId) && one.expiresAt > after
        if (isMeant) files.set(one.file, { ...one, expiresAt: at })
      }
    },
    expired: async (at, limit) =>
      sorted()
        .filter(({ expiresAt }) => expiresAt <= at)
        .slice(0, limit),
  }
}

export function clientSecretsInMemory(): ClientSecrets {
  const secrets = new Map<string, ClientSecret>()
  return {
    add: async (secret, now) => {
      const ofToken = [...secrets.values()].filter(
        ({ keyLookup, expiresAt }) => keyLookup === secret.keyLookup && expiresAt > now,
      )
      if (ofToken.length >= SECRETS_MAX) return false
      secrets.set(secret.secretHash, secret)
      return true
    },
    find: async (secretHash, now) => {
      const secret = secrets.get(secretHash)
      return secret === undefined || secret.expiresAt <= now ? null : secret
    },
    sweep: async (now) => {
      for (const [hash, { expiresAt }] of secrets) if (expiresAt <= now) secrets.delete(hash)
    },
  }
}

type Key = Pick<CallClaim, 'tokenId' | 'keyHash'>

const isAfter = (claim: CallClaim, { at, call }: Pick<CallClaim, 'at' | 'call'>): boolean =>
  claim.at > at || (claim.at === at && claim.call > call)

export function claimedCallsInMemory(): ClaimedCalls {
  const claims = new Map<string, CallClaim>()
  const nameOf = ({ tokenId, keyHash }: Key) => `${tokenId} ${keyHash}`
  const isExpired = (claim: CallClaim, at: number) => claim.at <= at - CLAIM_MS
  const free = (of: Key & { readonly call: string }): void => {
    if (claims.get(nameOf(of))?.call === of.call) claims.delete(nameOf(of))
  }
  return {
    find: async (key) => claims.get(nameOf(key)) ?? null,
    claim: async (claim) => {
      const claimed = claims.get(nameOf(claim)) ?? claim
      claims.set(nameOf(claim), claimed)
      const { call, bodyHash } = claimed
      return { call, bodyHash, isExpired: isExpired(claimed, claim.at) }
    },
    replace: async (claim, earlier) => {
      const claimed = claims.get(nameOf(claim))
      const isReplaced = claimed?.call === earlier && isExpired(claimed, claim.at)
      if (isReplaced) claims.set(nameOf(claim), claim)
    },
    free: async (claim) => free(claim),
    freeCall: async ({ tokenId, call }) => {
      for (const claim of claims.values()) {
        if (claim.tokenId === tokenId && claim.call === call) free(claim)
      }
    },
    expired: async (at, after, limit) =>
      [...claims.values()]
        .filter((claim) => isExpired(claim, at))
        .sort((a, b) => a.at - b.at || (a.call < b.call ? -1 : 1))
        .filter((claim) => after === null || isAfter(claim, after))
        .slice(0, limit),
    remove: async (expired) => {
      for (const claim of expired) free(claim)
    },
  }
}

/** Stored responses that never expire. */
export function storedResponsesInMemory(): StoredResponses {
  const known = new Map<string, StoredId & { readonly tokenId: number }>()
  return {
    add: async (response) => {
      for (const one of idsOf(response)) known.set(`${one.tokenId} ${one.id}`, one)
    },
    find: async ({ tokenId }, ids) =>
      ids.flatMap((id) => {
        const one = known.get(`${tokenId} ${id}`)
        return one === undefined ? [] : [one]
      }),
    remove: async (tokenId, responseId) => {
      for (const [name, one] of known) {
        if (one.tokenId === tokenId && one.responseId === responseId) known.delete(name)
      }
    },
    sweep: async () => {},
    contents: contentsInMemory(),
  }
}

function contentsInMemory(): ResponseContents {
  const known = new Map<string, ResponseContent>()
  const find = (tokenId: number, ids: readonly string[]) =>
    ids.flatMap((id) => known.get(`${tokenId} ${id}`) ?? [])
  return {
    add: async (content) => {
      known.set(`${content.tokenId} ${content.responseId}`, content)
    },
    sizes: async ({ tokenId }, ids) =>
      find(tokenId, ids).map(({ responseId, outputBytes, input, inputBytes }) => ({
        ...{ responseId, outputBytes, inputBytes: input === null ? null : inputBytes },
      })),
    load: async ({ tokenId }, ids, previous) =>
      find(tokenId, ids).map(({ responseId, output, input }) => ({
        ...{ responseId, output, input: responseId === previous ? input : null },
      })),
    loadResponse: async ({ tokenId }, id) => {
      const [content] = find(tokenId, [id])
      return content === undefined ? null : { response: content.response, output: content.output }
    },
    owners: async () => {
      const owners = [...known.values()].map(({ tokenId, userId }) => [tokenId, userId] as const)
      return [...new Map(owners)].map(([tokenId, userId]) => ({ tokenId, userId }))
    },
    removeOfTokens: async (tokenIds) => {
      for (const [name, { tokenId }] of known) if (tokenIds.includes(tokenId)) known.delete(name)
    },
    remove: async (tokenId, responseId) => known.delete(`${tokenId} ${responseId}`),
    sweep: async () => {},
  }
}
