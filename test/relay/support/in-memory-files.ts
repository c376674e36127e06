import type { FileStore, StoredFile } from '#relay/batches/file-store.ts'

export function filesInMemory(): FileStore {
  const files = new Map<string, StoredFile>()
  const sorted = () => [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1))
  return {
    add: async (file, max) => {
      const { userId, createdAt } = file
      const held = sorted().filter((one) => one.userId === userId && one.expiresAt > createdAt)
      if (held.length >= max) return false
      files.set(file.file, file)
      return true
    },
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
