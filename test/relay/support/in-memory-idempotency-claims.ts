import type { CallClaim, ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'

/** In-memory claims that never expire. */
export function claimedCallsInMemory(): ClaimedCalls {
  const claims = new Map<string, CallClaim>()
  const nameOf = ({ tokenId, keyHash }: Pick<CallClaim, 'tokenId' | 'keyHash'>) =>
    `${tokenId} ${keyHash}`
  return {
    claim: async (claim) => {
      const claimed = claims.get(nameOf(claim)) ?? claim
      claims.set(nameOf(claim), claimed)
      return claimed
    },
    free: async (claim) => {
      if (claims.get(nameOf(claim))?.call === claim.call) claims.delete(nameOf(claim))
    },
    freeCall: async ({ tokenId, call }) => {
      for (const [name, claim] of claims) {
        if (claim.tokenId === tokenId && claim.call === call) claims.delete(name)
      }
    },
    sweep: async () => {},
  }
}
