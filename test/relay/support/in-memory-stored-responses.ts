import {
  idsOf,
  type StoredId,
  type StoredResponses,
} from '#relay/stored-responses/stored-response-owners.ts'

/** Stored responses that never expire. */
export function storedResponsesInMemory(): StoredResponses {
  const known = new Map<string, StoredId & { readonly tokenId: number }>()
  return {
    add: async (response) => {
      for (const one of idsOf(response)) known.set(`${one.tokenId} ${one.id}`, one)
    },
    find: async (tokenId, ids) =>
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
  }
}
