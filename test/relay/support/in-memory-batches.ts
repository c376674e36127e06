import {
  type BatchStore,
  isAbandoned,
  type LinesById,
  type StoredBatch,
} from '#relay/batches/batch-store.ts'

/** Batches that never expire. */
export function batchesInMemory(): BatchStore {
  const batches = new Map<string, StoredBatch>()
  const lines = new Map<string, LinesById>()
  const change = (batch: string, changes: Partial<StoredBatch>) => {
    const before = batches.get(batch)
    if (before !== undefined) batches.set(batch, { ...before, ...changes })
  }
  const sorted = () => [...batches.values()].sort((a, b) => (a.batch < b.batch ? -1 : 1))
  return {
    add: async (added, facts) => {
      const known = batches.get(added.batch)
      if (known !== undefined && !isAbandoned(known, added.holderSince)) return false
      batches.set(added.batch, {
        ...added,
        isSettled: false,
        object: null,
        attempts: 0,
        retryAt: 0,
        deniedAt: 0,
        failingSince: 0,
        endSeenAt: 0,
        uploaded: null,
      })
      lines.set(added.batch, facts)
      return true
    },
    confirm: async (batch, holder) => {
      const isHolder = batches.get(batch)?.holder === holder
      if (isHolder) change(batch, { holder: null })
      return isHolder
    },
    describe: async (batch, object) => change(batch, { object }),
    noteUpload: async (batch, uploaded) => change(batch, { uploaded }),
    settle: async (batch) => change(batch, { isSettled: true }),
    postpone: async (batch, attempts, retryAt) => {
      if (batches.get(batch)?.attempts !== attempts) return false
      change(batch, { attempts: attempts + 1, retryAt })
      return true
    },
    deny: async (batch, at) => {
      change(batch, { deniedAt: batches.get(batch)?.deniedAt || at, failingSince: 0 })
    },
    noteFailure: async (batch, at) =>
      change(batch, { failingSince: batches.get(batch)?.failingSince || at }),
    noteEnd: async (batch, at) => change(batch, { endSeenAt: batches.get(batch)?.endSeenAt || at }),
    clearDenied: async (batch) => change(batch, { deniedAt: 0, failingSince: 0 }),
    resume: async (batch) =>
      change(batch, { attempts: 0, retryAt: 0, deniedAt: 0, failingSince: 0 }),
    find: async (userId, batch) => {
      const found = batches.get(batch)
      return found?.userId === userId ? found : undefined
    },
    list: async (userId, api, { limit, before = '', after = '~' }) =>
      sorted()
        .filter((one) => one.userId === userId && one.api === api)
        .filter(({ batch }) => batch > before && batch < after)
        .toReversed()
        .slice(0, limit),
    unsettled: async (after, limit) =>
      sorted()
        .filter(({ batch, isSettled }) => !isSettled && batch > after)
        .slice(0, limit),
    replaceLines: async (batch, facts) => {
      lines.set(batch, facts)
    },
    linesOf: async (batch) => lines.get(batch) ?? new Map(),
    remove: async (batch, holder) => {
      if (batches.get(batch)?.holder !== holder) return
      batches.delete(batch)
      lines.delete(batch)
    },
    sweep: async () => {},
  }
}
