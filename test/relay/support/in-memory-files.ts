import {
  type FileLimits,
  type FileStore,
  limitExceeded,
  type StoredFile,
} from '#relay/batches/file-record-store.ts'

export function filesInMemory(): FileStore {
  const files = new Map<string, StoredFile>()
  const sorted = () => [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))
  const exceeded = (userId: number, added: number, at: number, limits: FileLimits) => {
    const held = sorted().filter((one) => one.userId === userId && one.expiresAt > at)
    const bytes = held.reduce((sum, file) => sum + file.bytes, 0)
    return limitExceeded({ files: held.length, bytes }, added, limits)
  }
  return {
    add: async (file, limits) => {
      const limit = exceeded(file.userId, file.bytes, file.createdAt, limits)
      if (limit === null) files.set(file.file, file)
      return limit
    },
    exceeded: async (userId, bytes, at, limits) => exceeded(userId, bytes, at, limits),
    find: async (userId, file, at) => {
      const found = files.get(file)
      return found?.userId === userId && found.expiresAt > at ? found : undefined
    },
    list: async (userId, { limit, isAscending, after, isInput, at }) => {
      const all = isAscending ? sorted() : sorted().toReversed()
      return all
        .filter((one) => one.userId === userId && one.expiresAt > at)
        .filter(({ file }) => after === null || (isAscending ? file > after : file < after))
        .filter(({ batch }) => isInput === null || (batch === null) === isInput)
        .slice(0, limit)
    },
    remove: async (file) => {
      files.delete(file)
    },
    expired: async (at, limit) =>
      sorted()
        .filter(({ expiresAt }) => expiresAt <= at)
        .slice(0, limit),
  }
}
